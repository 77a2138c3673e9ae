"""Measures the program; nothing is asserted and no test depends on a time.

``make bench`` or ``python -m benchmarks [NAME …]``. Each benchmark is a module here
with a function ``run`` that yields `figures.Figure`; what has to be measured inside a
process of its own is in `benchmarks.children`. Kept out of ``inspector``, so that no
part of the program is built for being measured.
"""
