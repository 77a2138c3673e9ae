"""Rows of a form whose labels stand level with their fields."""

from __future__ import annotations

from PySide6.QtWidgets import QFormLayout, QLabel, QLayout, QSizePolicy, QWidget


def make_form(parent: QWidget | None = None) -> QFormLayout:
    """Returns a form of one field a row, fields as wide as they get."""
    form = QFormLayout(parent) if parent is not None else QFormLayout()
    form.setContentsMargins(0, 0, 0, 0)
    form.setVerticalSpacing(8)
    form.setHorizontalSpacing(12)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return form


def add_row(
    form: QFormLayout,
    text: str,
    field: QWidget | QLayout,
    *,
    buddy: QWidget | None = None,
) -> QLabel:
    """Adds a row.

    Args:
        form: Where to.
        text: Its label.
        field: Widget or layout at the right.
        buddy: Widget that the label's mnemonic and name belong to; None for the
            field itself when it is one.
    """
    label = QLabel(text)
    # Qt puts a label at the top of its row unless it may take the whole height.
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
    if buddy is None and isinstance(field, QWidget):
        buddy = field
    if buddy is not None:
        label.setBuddy(buddy)
    form.addRow(label, field)
    return label
