"""Programs of the people who work on the inspector; not part of the wheel."""
