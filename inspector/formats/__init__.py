"""Checkpoint formats: recognise, list, read and write, one file a format.

Runs in the reader process, which may be ended at any moment. Imports neither JAX,
Flax nor Qt; orbax is imported by one child process alone.
"""
