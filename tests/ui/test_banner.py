from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector.errors import ErrorInfo
from inspector.ui.banner import Banner, ErrorBanner
from inspector.ui.banner_stack import BannerStack
from inspector.ui.theme import Theme

ERROR = ErrorInfo(
    "LoadModuleError", "NameError: nn", "nets.py:3", "Import it.", "Traceback …"
)


@pytest.fixture
def stack(qtbot: QtBot, theme: Theme) -> Iterator[BannerStack]:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(320, 400)
    made = BannerStack(theme, host)
    made.resize(320, 100)
    host.show()
    # The host owns the stack; it lives as long as the test.
    yield made
    host.close()


def test_an_error_is_told_in_its_parts(stack: BannerStack) -> None:
    banner = stack.show_error("load", ERROR)
    assert banner.message.text() == "NameError: nn"
    assert banner.where.text() == "nets.py:3"
    assert banner.hint.text() == "Import it."
    assert banner.text == "nets.py:3: NameError: nn\nImport it."
    assert banner.accessibleName() == f"Error: {banner.text}"


def test_a_long_word_does_not_push_the_close_button_out_of_sight(
    qtbot: QtBot, stack: BannerStack
) -> None:
    hint = f"Convert it: {'safetensors.torch.save_file' * 3}(torch.load(FILE))."
    banner = stack.show_error("open", ErrorInfo("E", "No.", "a.pth", hint))
    close = banner.findChild(QToolButton, "banner.openClose")
    assert close is not None
    qtbot.waitUntil(lambda: 0 < banner.width() <= stack.viewport().width())
    assert (
        stack.viewport().rect().right()
        >= close.mapTo(stack.viewport(), close.rect().bottomRight()).x()
    )


def test_the_traceback_is_one_click_off(qtbot: QtBot, stack: BannerStack) -> None:
    banner = stack.show_error("load", ERROR)
    field = banner.findChild(QPlainTextEdit, "errorTraceback")
    more = banner.findChild(QPushButton, "errorMore")
    assert field is not None
    assert more is not None
    assert not field.isVisible()
    before = stack.height()
    QTest.mouseClick(more, Qt.MouseButton.LeftButton)
    assert field.isVisible()
    assert more.text() == "Hide traceback"
    qtbot.waitUntil(lambda: stack.height() > before)


def test_an_error_is_copied_with_its_traceback(stack: BannerStack) -> None:
    banner = stack.show_error("load", ERROR)
    copy = banner.findChild(QToolButton, "errorCopy")
    assert copy is not None
    QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == f"{banner.text}\n\nTraceback …"


def test_a_plain_message_has_no_parts_of_an_error(stack: BannerStack) -> None:
    banner = stack.show_message("note", "train=False was chosen.")
    assert banner.text == "train=False was chosen."
    hidden = (banner.where, banner.hint, banner.findChild(QToolButton, "errorCopy"))
    assert not any(widget.isVisible() for widget in hidden if widget is not None)


def test_escape_puts_a_message_away(qtbot: QtBot, stack: BannerStack) -> None:
    banner = stack.show_message("note", "A note.")
    pressed: list[str] = []
    button = banner.add_button("Do", lambda: pressed.append("do"), name="do")
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert pressed == ["do"]
    QTest.keyClick(button, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: stack.reasons() == [])
    qtbot.waitUntil(lambda: not stack.isVisible())


def test_one_message_for_each_reason(stack: BannerStack) -> None:
    stack.show_message("a", "First.")
    stack.show_message("a", "Second.")
    stack.show_message("b", "Other.")
    assert stack.reasons() == ["a", "b"]
    banner = stack.get("a")
    assert banner is not None
    assert banner.text == "Second."
    stack.remove("a")
    stack.remove("b")
    assert not stack.isVisible()


def test_a_kept_banner_is_filled_again(qtbot: QtBot, theme: Theme) -> None:
    banner = ErrorBanner(theme, closable=True)
    qtbot.addWidget(banner)
    assert not banner.isVisible()
    done: list[int] = []
    banner.show_error(ERROR, action="Repair", on_action=lambda: done.append(1))
    button = banner.findChild(QPushButton, "errorAction")
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert done == [1]
    banner.dismiss()
    assert banner.error is None
    banner.show_error(ErrorInfo("Other", "Without a remedy."))
    shown = [
        found for found in banner.findChildren(QPushButton) if not found.isHidden()
    ]
    assert [found.text() for found in shown] == []
    assert isinstance(banner, Banner)
