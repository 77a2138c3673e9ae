"""The viewers there are, in the order of their tabs.

They need numpy, which no window needs for its first picture: only `registry`, when
the first node is looked at, and `warm_up`, on a thread before that, import this.
"""

from __future__ import annotations

from inspector.ui.viewers.numbers import NumbersViewer
from inspector.ui.viewers.picture import PictureViewer
from inspector.ui.viewers.summary import SummaryViewer
from inspector.ui.viewers.text import TextViewer
from inspector.ui.viewers.viewer import Viewer

VIEWERS: tuple[type[Viewer], ...] = (
    SummaryViewer,
    PictureViewer,
    NumbersViewer,
    TextViewer,
)
"""Every viewer class; a new one is a line here."""
