"""Dialogs and popovers of the window: load a module, export, cast, fill.

None of them blocks: each shows its own errors and asks the store by itself.
"""
