"""Offers to load the target's module again when its file has changed on disk.

The store watches the file and tells; nothing is imported before the person clicks.
Made by the main window, on its thread.
"""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import QObject

from inspector.engine.messages.document import Changes, ModuleFileChanged
from inspector.errors import ErrorInfo
from inspector.ui.banner_stack import BannerStack
from inspector.ui.notices import Notices
from inspector.ui.operations import modules
from inspector.ui.store_client import StoreClient

_REASON = "moduleFile"
_NOTES = "moduleNotes"


class ReloadOffer(QObject):
    """Shows that the module's file changed, with Reload and Later."""

    def __init__(
        self, client: StoreClient, banners: BannerStack, notices: Notices
    ) -> None:
        """Listens to the store; shows nothing yet."""
        super().__init__(banners)
        self._client, self._banners, self._notices = client, banners, notices
        self._name = ""
        client.module_file_changed.connect(self._on_file)
        client.changed.connect(self._on_changed)

    def reload(self) -> None:
        """Loads the module again and says what no longer fits."""
        self._banners.remove(_REASON)
        modules.reload_module(
            self._client,
            owner=self,
            name=self._name or "the module",
            on_done=self._on_reloaded,
            on_failure=self._on_failure,
        )

    def _on_file(self, event: ModuleFileChanged) -> None:
        self._name = PurePath(event.file).name
        if event.is_gone:
            text = (
                f"{self._name} is no longer there. The module stays as it was loaded."
            )
            self._banners.show_message(_REASON, text, "warning").setToolTip(event.file)
            return
        text = f"{self._name} has changed on disk. Edits that still fit are kept."
        banner = self._banners.show_message(_REASON, text, "warning")
        banner.setToolTip(event.file)
        banner.add_button("Reload", self.reload, name="reloadModule", primary=True)
        banner.add_button(
            "Later", lambda: self._banners.remove(_REASON), name="reloadLater"
        )

    def _on_reloaded(self, changes: Changes) -> None:
        self._notices.info(f"Loaded {self._name or 'the module'} again")
        if not changes.notes:
            self._banners.remove(_NOTES)
            return
        for note in changes.notes:
            self._notices.warning(note)
        text = "\n".join(changes.notes)
        self._banners.show_message(_NOTES, text, "warning")

    def _on_failure(self, error: ErrorInfo) -> None:
        banner = self._banners.show_message(_REASON, "", "error")
        banner.show_error(error, action="Try again", on_action=self.reload)

    def _on_changed(self, changes: Changes) -> None:
        if changes.base:
            # Another module is the target, or this one was loaded anew.
            self._banners.remove(_REASON)
