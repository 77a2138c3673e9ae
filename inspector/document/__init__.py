"""The document: recipe, base, history, journal, fingerprint.

Owned by the store process. Holds decisions and immutable trees, never numbers of
foreign files, and imports neither formats nor JAX nor Qt.
"""
