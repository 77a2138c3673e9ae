"""The command line: every verb works without a window, on the store alone.

Never imports Qt, formats or JAX; it sends the same messages as the window.
"""
