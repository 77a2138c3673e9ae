"""Flax Inspector: checkpoints and modules side by side, on the desktop."""

__version__ = "0.1.0"
