"""The values of the two themes as plain data: colours, sizes, distances, marks.

Colours of the marks are given by the design; text and marks reach a contrast of 4.5
to 1 on every surface they occur on, which a test computes from this file. Read by
`theme` and `stylesheet`; imports no Qt.
"""

from __future__ import annotations

from dataclasses import dataclass

SPACE = 4
"""Unit of every distance, in pixels."""

ROW_HEIGHT = 24
"""Height of a row of a tree or a table, in pixels."""

RADIUS = 8
"""Corner of a panel, in pixels."""

FIELD_RADIUS = 6
"""Corner of a field or a button, in pixels."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """One theme.

    Attributes:
        name: ``"light"`` or ``"dark"``.
        window: Surface behind the panels.
        panel: Surface of a panel.
        field: Surface of a field and of a code block.
        hover: Surface of what the mouse is over.
        selection: Surface of what is selected.
        selection_quiet: The same while another panel has the focus.
        hairline: Lines between things.
        border: Edge of a field or a button.
        text: Text.
        secondary: Text that explains other text.
        disabled: Text of what cannot be used now; exempt from the contrast rule.
        accent: The one accent: primary button, focus, progress, links.
        accent_hover: The accent under the mouse.
        on_accent: Text on the accent.
        good: Mark of what came from a source unchanged.
        info: Mark of what was converted, edited or run.
        quiet: Mark of initial values.
        warning: Mark of open choices; text of warnings.
        error: Text of errors.
        banner: Surface of a message inside a panel.
        banner_warning: Surface of a warning inside a panel.
        banner_error: Surface of an error inside a panel.
        check: Drawing of a check mark on the accent, in the colour ``on_accent``.
        menu_check: Drawing of a check mark in a menu.
        scroll: Handle of a scroll bar.
        scroll_hover: The same under the mouse.
        small_pt: Size of captions, in points.
        body_pt: Size of text, in points.
        title_pt: Size of a panel's main title, in points.
    """

    name: str
    window: str
    panel: str
    field: str
    hover: str
    selection: str
    selection_quiet: str
    hairline: str
    border: str
    text: str
    secondary: str
    disabled: str
    accent: str
    accent_hover: str
    on_accent: str
    good: str
    info: str
    quiet: str
    warning: str
    error: str
    banner: str
    banner_warning: str
    banner_error: str
    check: str
    menu_check: str
    scroll: str
    scroll_hover: str
    small_pt: float = 8.0
    body_pt: float = 9.0
    title_pt: float = 12.0


LIGHT = Tokens(
    name="light",
    window="#f5f6f8",
    panel="#ffffff",
    field="#f8f9fb",
    hover="#f0f3f6",
    selection="#dce9fb",
    selection_quiet="#e9edf2",
    hairline="#e3e6ea",
    border="#d3d8de",
    text="#1b1f24",
    secondary="#57606a",
    disabled="#9aa2ac",
    accent="#1257b5",
    accent_hover="#0e4793",
    on_accent="#ffffff",
    good="#0c6b40",
    info="#1257b5",
    quiet="#5f6772",
    warning="#9a4d06",
    error="#b3261e",
    banner="#eef3fa",
    banner_warning="#fdf3e4",
    banner_error="#fdecea",
    check="check-white",
    menu_check="check-ink",
    scroll="#cdd3da",
    scroll_hover="#a9b1bb",
)

DARK = Tokens(
    name="dark",
    window="#191c20",
    panel="#22262b",
    field="#1d2125",
    hover="#2a2f36",
    selection="#2b405c",
    selection_quiet="#30363e",
    hairline="#31363d",
    border="#3d444d",
    text="#e6e9ed",
    secondary="#a6aeb8",
    disabled="#6d7681",
    accent="#6cb3ff",
    accent_hover="#8fc5ff",
    on_accent="#0d1a2b",
    good="#4cc38a",
    info="#6cb3ff",
    quiet="#a6aeb8",
    warning="#f2a65a",
    error="#ff8f86",
    banner="#263243",
    banner_warning="#3a3022",
    banner_error="#412a2a",
    check="check-ink",
    menu_check="check-white",
    scroll="#434b55",
    scroll_hover="#5c6570",
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark: a shape first, a colour second, a word for who sees neither.

    Attributes:
        glyph: Character of the shape, where text shows the mark.
        token: Token of its colour.
        word: What it says, one word or two.
        meaning: What it says in full, for tool tips.
    """

    glyph: str
    token: str
    word: str
    meaning: str


MARKS: dict[str, Mark] = {
    "": Mark("", "quiet", "", ""),
    "exact": Mark("●", "good", "exact", "from a source, exact"),
    "converted": Mark("◐", "info", "converted", "from a source, converted"),
    "edited": Mark("✎", "info", "edited", "edited by hand"),
    "run": Mark("↻", "info", "from a run", "from a run"),
    "initial": Mark("○", "quiet", "initial", "initial value"),
    "unset": Mark("◌", "warning", "unset", "no value and no initialiser"),
    "open": Mark("▲", "warning", "open", "a choice is open"),
    "mismatch": Mark("▲", "warning", "mismatch", "does not fit; needs a choice"),
    "missing": Mark("◌", "quiet", "missing", "the source has nothing for it"),
    "unused": Mark("–", "quiet", "unused", "a source leaf that goes nowhere"),
}
"""Mark of every origin of a leaf and of every verdict of a plan."""

ORIGINS = ("exact", "converted", "edited", "run", "initial", "unset", "open")
"""Origins from best to worst, the order in which counts are shown."""

VERDICTS = ("exact", "converted", "mismatch", "missing", "unused")
"""Verdicts of a plan in the order in which counts are shown."""

MARK_SURFACES = ("panel", "field", "hover", "selection", "selection_quiet", "window")
"""Surfaces that marks and text occur on."""
