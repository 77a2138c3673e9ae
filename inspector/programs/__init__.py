"""Compiled programs and jaxprs of a loaded module (model process)."""
