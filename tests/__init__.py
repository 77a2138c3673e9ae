"""The tests, in folders that mirror the package; ``e2e`` drives the real window."""
