"""Inputs that fit an open source: asked for, taken, and the others offered.

For the run panel and the module dialog, on the window's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from inspector.engine.messages.calling import Proposals, ProposeInputs
from inspector.engine.messages.module import ModuleSpec
from inspector.ui import format as fmt
from inspector.ui.banner_stack import BannerStack
from inspector.ui.operations import runs
from inspector.ui.store_client import StoreClient

_TARGETS = ModuleSpec("")
"""Stands for the module of the target."""

_REASON = "proposals"
_MOST_OTHERS = 3


class InputProposals(QObject):
    """Asks which inputs fit a source and puts the likeliest into the call."""

    def __init__(
        self,
        client: StoreClient,
        banners: BannerStack,
        take: Callable[[tuple[str, ...]], None],
    ) -> None:
        """Asks nothing yet; ``take`` puts inputs into the call."""
        super().__init__(banners)
        self._client, self._banners, self._take = client, banners, take

    def propose(self, source: str, method: str, module: ModuleSpec = _TARGETS) -> None:
        """Asks which inputs of a method fit the source with this id.

        Args:
            source: Id of the source.
            method: The method; empty for ``__call__``.
            module: The module; left out for that of the target.
        """
        self._banners.remove(_REASON)
        runs.propose(
            self._client,
            owner=self,
            request=ProposeInputs(module, source, method),
            on_done=self._on_proposals,
            on_failure=lambda error: self._banners.show_error(_REASON, error),
        )

    def _on_proposals(self, proposals: Proposals) -> None:
        if not proposals.inputs:
            tried = fmt.plural(proposals.tried, "candidate was", "candidates were")
            text = f"No input was found that fits; {tried} tried."
            self._banners.show_message(_REASON, text, "warning")
            return
        first, *others = proposals.inputs
        self._take(first)
        if not others:
            return
        text = f"Took {', '.join(first)}. Other inputs fit as well:"
        banner = self._banners.show_message(_REASON, text)
        for number, inputs in enumerate(others[:_MOST_OTHERS]):
            banner.add_button(
                ", ".join(inputs), partial(self._take, inputs), name=f"input{number}"
            )
