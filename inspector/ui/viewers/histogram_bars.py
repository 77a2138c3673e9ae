"""Heights and count ticks of a histogram, without what draws it. Plain arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from inspector.ui.viewers.ticks import ticks

MOST_COUNT_TICKS = 3
"""Most numbers at the vertical scale."""

_LOG_BASE = 0.5
"""Count at which bars begin on a logarithmic scale, so that one value is seen."""


@dataclass(frozen=True, slots=True)
class Bars:
    """What is drawn.

    Attributes:
        low: Low end of the first bin.
        high: High end of the last bin.
        counts: Values in each bin, at least one of them not 0.
        logarithmic: Whether heights are logarithms.
    """

    low: float
    high: float
    counts: tuple[int, ...]
    logarithmic: bool = False

    def height_of(self, count: float) -> float:
        """Returns where a count lies on the vertical scale, which begins at 0."""
        if not self.logarithmic:
            return count
        return math.log10(max(count, _LOG_BASE) / _LOG_BASE)

    @property
    def top(self) -> float:
        """End of the vertical scale."""
        return self.height_of(max(self.counts))

    def count_ticks(self) -> tuple[float, ...]:
        """Returns the counts that are written at the vertical scale."""
        most = max(self.counts)
        if not self.logarithmic:
            found = ticks(0, most, MOST_COUNT_TICKS)[1:]
            return tuple(count for count in found if count == round(count))
        decades = math.floor(math.log10(most))
        step = math.ceil((decades + 1) / MOST_COUNT_TICKS)
        return tuple(10.0**decade for decade in range(0, decades + 1, step))
