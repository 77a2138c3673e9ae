"""Public modules, loaded, listed and run by the program: ``make zoo``."""
