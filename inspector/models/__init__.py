"""The person's modules: load, construct, trace, initialise.

Runs in the model process on the person's own interpreter, so it imports the
standard library, numpy and what Flax itself brings. Never Qt, formats or document.
"""
