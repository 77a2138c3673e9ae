"""Item models: adapters between the store's pages and Qt's views.

Traps of PySide6 that everybody who writes here must know:

* `data()` runs while Qt paints: it reads what is there, asks for what is not, and
  never waits or raises.
* Scoped enums only (``Qt.ItemDataRole.DisplayRole``).
* ``createIndex`` with an object keeps no reference to it, and
  ``internalPointer()`` of an integer id crashes; use ``internalId()``.
* A virtual that Qt calls per row costs about 3 µs in Python: a tree of 100,000
  rows is laid out in 0.3 s that way and in 0.02 s when Qt keeps the structure.
"""
