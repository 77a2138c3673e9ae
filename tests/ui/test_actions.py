from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector import resources
from inspector.ui.actions import SPECS, ActionId, ActionSet, Menu, UiContext
from inspector.ui.theme import Theme

FIXED = (
    "open", "openModule", "export", "undo", "redo", "stop", "copy", "paste",
    "saveRecipe", "replayRecipe", "commandPalette",
)  # fmt: skip


@pytest.fixture
def actions(qtbot: QtBot, theme: Theme) -> Iterator[ActionSet]:
    window = QWidget()
    qtbot.addWidget(window)
    # The window owns the actions; it lives as long as the test.
    yield ActionSet(window, theme)
    window.deleteLater()


def test_ids_are_unique_and_all_specified() -> None:
    assert Counter(spec.id for spec in SPECS) == Counter(ActionId)


def test_promised_ids_are_there(actions: ActionSet) -> None:
    for name in FIXED:
        assert actions[ActionId(name)].objectName() == f"action.{name}"


def test_shortcuts_are_unique() -> None:
    shortcuts = Counter(spec.shortcut for spec in SPECS if spec.shortcut)
    assert [keys for keys, number in shortcuts.items() if number > 1] == []


def test_mnemonics_are_unique_in_each_menu() -> None:
    for menu in Menu:
        letters = Counter(
            spec.text[spec.text.index("&") + 1].lower()
            for spec in SPECS
            if spec.menu is menu
        )
        assert [letter for letter, number in letters.items() if number > 1] == []


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: str(spec.id))
def test_every_action_can_be_found(spec: object, actions: ActionSet) -> None:
    action = next(a for a in actions if a.objectName() == f"action.{spec.id}")  # type: ignore[attr-defined]  # pytest hands parameters over untyped
    assert action.property("accessibleName")
    # The palette lists every action of the set, with a shortcut or without.
    assert action in list(actions)
    assert action.text()


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: str(spec.id))
def test_icons_exist_and_take_the_theme(spec: object) -> None:
    name = spec.icon  # type: ignore[attr-defined]  # pytest hands it over untyped
    if name:
        text = Path(resources.path(f"icons/{name}.svg")).read_text(encoding="utf-8")
        assert "currentColor" in text
        assert "#" not in text


def test_what_can_be_used_follows_the_context(actions: ActionSet) -> None:
    actions.update_enabled(UiContext())
    assert not actions[ActionId.UNDO].isEnabled()
    assert not actions[ActionId.EXPORT].isEnabled()
    assert not actions[ActionId.PASTE].isEnabled()
    assert actions[ActionId.OPEN].isEnabled()
    actions.update_enabled(
        UiContext(
            sources=1,
            target_kind="module",
            can_undo=True,
            clipboard=True,
            target_selected=2,
        )
    )
    assert actions[ActionId.UNDO].isEnabled()
    assert actions[ActionId.EXPORT].isEnabled()
    assert actions[ActionId.PASTE].isEnabled()
    assert actions[ActionId.DELETE].isEnabled()
    assert not actions[ActionId.RENAME].isEnabled()


def test_undo_names_what_it_takes_back(actions: ActionSet) -> None:
    actions.set_history("Rename head to top", "")
    assert actions[ActionId.UNDO].text() == "&Undo Rename head to top"
    assert actions[ActionId.REDO].text() == "&Redo"


def test_a_long_edit_is_named_in_full_in_the_tool_tip_only(actions: ActionSet) -> None:
    text = "Transfer 15 leaves from " + 10 * "a_long_name/"
    actions.set_history(text, "")
    assert actions[ActionId.UNDO].text().endswith("…")
    assert len(actions[ActionId.UNDO].text()) < 70
    assert text in actions[ActionId.UNDO].toolTip()


def test_the_menu_tells_the_theme_in_force(actions: ActionSet) -> None:
    themes = (ActionId.THEME_SYSTEM, ActionId.THEME_LIGHT, ActionId.THEME_DARK)
    assert [actions[name].isChecked() for name in themes] == [False, True, False]
    actions[ActionId.THEME_DARK].trigger()
    assert [actions[name].isChecked() for name in themes] == [False, False, True]
