"""The panels of the window; each refreshes itself from `Changes` and calls no other.

A panel is a widget made from (client, theme, parent); the main window mounts it.
"""
