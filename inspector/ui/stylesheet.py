"""The window's style sheet, made from the tokens and nothing else.

Called by `theme`. Rules name classes and object names; a widget asks for a look by
the dynamic property ``look`` (``primary``, ``flat``, ``chip``, ``tiny``, ``title``,
``caption``, ``secondary``, ``mono``, ``panel``, ``banner``, ``warning``, ``error``).
"""

from __future__ import annotations

from inspector import resources
from inspector.ui.tokens import FIELD_RADIUS, RADIUS, ROW_HEIGHT, SPACE, Tokens


def stylesheet(tokens: Tokens, sans: str, mono: str) -> str:
    """Returns the style sheet of a theme.

    Args:
        tokens: The theme.
        sans: Family of the text font.
        mono: Family of the monospaced font.
    """
    parts = (
        _surfaces(tokens), _texts(tokens, sans, mono), _buttons(tokens),
        _small_buttons(tokens), _fields(tokens), _views(tokens), _scrolls(tokens),
        _chrome(tokens), _menus(tokens), _banners(tokens),
    )  # fmt: skip
    return "\n".join(parts)


def _surfaces(t: Tokens) -> str:
    return f"""
QMainWindow, QDialog, QMessageBox {{ background: {t.window}; }}
QWidget {{ color: {t.text}; }}
QFrame[look="panel"] {{
  background: {t.panel}; border: 1px solid {t.hairline}; border-radius: {RADIUS}px;
}}
QFrame[look="line"] {{ background: {t.hairline}; border: none; max-height: 1px; }}
QToolTip {{
  background: {t.panel}; color: {t.text}; border: 1px solid {t.border};
  padding: {SPACE}px {2 * SPACE}px;
}}
QMainWindow::separator {{ background: transparent; width: {2 * SPACE}px;
  height: {2 * SPACE}px; }}
QMainWindow::separator:hover {{ background: {t.hairline}; }}
QSplitter::handle {{ background: transparent; }}
"""


def _texts(t: Tokens, sans: str, mono: str) -> str:
    return f"""
QLabel {{ background: transparent; }}
QLabel[look="title"] {{ font: 600 {t.title_pt}pt "{sans}"; }}
QLabel[look="caption"] {{
  color: {t.secondary}; font: 600 {t.small_pt}pt "{sans}"; letter-spacing: 1px;
}}
QLabel[look="small"] {{ color: {t.secondary}; font-size: {t.small_pt}pt; }}
QLabel[look="secondary"] {{ color: {t.secondary}; }}
QLabel[look="mono"] {{ font-family: "{mono}"; }}
QLabel[look="error"] {{ color: {t.error}; }}
QLabel[look="warning"] {{ color: {t.warning}; }}
QLabel:disabled {{ color: {t.disabled}; }}
"""


def _buttons(t: Tokens) -> str:
    return f"""
QPushButton, QToolButton[look="button"] {{
  background: {t.panel}; border: 1px solid {t.border};
  border-radius: {FIELD_RADIUS}px; padding: {SPACE}px {3 * SPACE}px;
  min-height: {4 * SPACE}px;
}}
QPushButton:hover, QToolButton[look="button"]:hover {{ background: {t.hover}; }}
QPushButton:pressed, QToolButton[look="button"]:pressed {{ background: {t.selection}; }}
QPushButton:focus, QToolButton[look="button"]:focus {{ border-color: {t.accent}; }}
QPushButton:disabled, QToolButton[look="button"]:disabled {{
  color: {t.disabled}; background: {t.window}; border-color: {t.hairline};
}}
QPushButton[look="primary"], QToolButton[look="primary"] {{
  background: {t.accent}; color: {t.on_accent}; border: 1px solid {t.accent};
  border-radius: {FIELD_RADIUS}px; padding: {SPACE}px {3 * SPACE}px; font-weight: 600;
  min-height: {4 * SPACE}px;
}}
QPushButton[look="primary"]:hover, QToolButton[look="primary"]:hover,
QPushButton[look="primary"]:focus, QToolButton[look="primary"]:focus {{
  background: {t.accent_hover}; border-color: {t.text};
}}
QPushButton[look="primary"]:disabled, QToolButton[look="primary"]:disabled {{
  background: {t.hover}; color: {t.disabled}; border-color: {t.hairline};
}}
QToolButton[look="search"] {{
  background: {t.panel}; border: 1px solid {t.border}; color: {t.secondary};
  border-radius: {FIELD_RADIUS}px; padding: {SPACE}px {3 * SPACE}px;
  min-height: {4 * SPACE}px;
}}
QToolButton[look="search"]:hover, QToolButton[look="search"]:focus {{
  border-color: {t.accent};
}}
QPushButton[look="flat"], QToolButton[look="flat"] {{
  background: transparent; border: 1px solid transparent; color: {t.accent};
  border-radius: {FIELD_RADIUS}px; padding: {SPACE}px {2 * SPACE}px;
}}
QPushButton[look="flat"]:hover, QToolButton[look="flat"]:hover {{
  background: {t.hover};
}}
QPushButton[look="flat"]:focus, QToolButton[look="flat"]:focus {{
  border-color: {t.accent};
}}
QPushButton[look="flat"]:disabled, QToolButton[look="flat"]:disabled {{
  color: {t.disabled};
}}
QToolButton[look="icon"] {{ background: transparent; border: 1px solid transparent;
  border-radius: {SPACE}px; padding: 2px; }}
QToolButton[look="icon"]:hover {{ background: {t.hairline}; }}
QToolButton[look="icon"]:focus {{ border-color: {t.accent}; }}
QPushButton[look="chip"] {{
  background: {t.panel}; border: 1px solid {t.border}; color: {t.text};
  border-radius: {2 * SPACE}px; padding: 0 {2 * SPACE}px; min-height: {5 * SPACE}px;
}}
QPushButton[look="chip"]:hover {{ background: {t.hover}; }}
QPushButton[look="chip"]:checked {{
  background: {t.selection}; border-color: {t.accent};
}}
QPushButton[look="chip"]:focus {{ border-color: {t.accent}; }}
"""


def _small_buttons(t: Tokens) -> str:
    return f"""
QPushButton[look="tiny"] {{
  background: transparent; border: 1px solid transparent; color: {t.secondary};
  border-radius: {SPACE}px; padding: 0 {SPACE}px; min-height: {3 * SPACE}px;
  font-size: {t.small_pt}pt;
}}
QPushButton[look="tiny"]:hover {{ background: {t.hover}; color: {t.text}; }}
QPushButton[look="tiny"]:checked {{ background: {t.selection}; color: {t.text}; }}
QPushButton[look="tiny"]:focus {{ border-color: {t.accent}; }}
"""


def _fields(t: Tokens) -> str:
    inputs = "QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox"
    focused = ", ".join(f"{name}:focus" for name in inputs.split(", "))
    disabled = ", ".join(f"{name}:disabled" for name in inputs.split(", "))
    return f"""
{inputs} {{
  background: {t.field}; border: 1px solid {t.border};
  border-radius: {FIELD_RADIUS}px; padding: {SPACE}px {2 * SPACE}px;
  selection-background-color: {t.selection}; selection-color: {t.text};
  placeholder-text-color: {t.secondary};
}}
{focused} {{ border-color: {t.accent}; }}
{disabled} {{ color: {t.disabled}; background: {t.window}; }}
QLineEdit[invalid="true"] {{ border-color: {t.error}; }}
QAbstractItemView QLineEdit, QAbstractItemView QComboBox {{
  border-radius: 0; padding: 0 {SPACE}px; background: {t.panel};
  border: 1px solid {t.accent};
}}
QComboBox QAbstractItemView {{
  background: {t.panel}; border: 1px solid {t.border}; outline: none;
  selection-background-color: {t.selection}; selection-color: {t.text};
}}
QComboBox::drop-down {{ border: none; width: {5 * SPACE}px; }}
QComboBox::down-arrow {{
  width: 0; height: 0; border-left: {SPACE}px solid {t.field};
  border-right: {SPACE}px solid {t.field};
  border-top: {SPACE + 1}px solid {t.secondary};
}}
QCheckBox::indicator {{
  width: {3 * SPACE}px; height: {3 * SPACE}px; background: {t.field};
  border: 1px solid {t.secondary}; border-radius: 3px;
}}
QCheckBox::indicator:focus, QCheckBox::indicator:hover {{ border-color: {t.accent}; }}
QCheckBox::indicator:checked {{
  background: {t.accent}; border-color: {t.accent}; image: {_drawing(t.check)};
}}
QCheckBox::indicator:checked:focus {{ border-color: {t.text}; }}
QCheckBox::indicator:disabled {{ border-color: {t.disabled}; }}
QCheckBox, QRadioButton {{ background: transparent; spacing: {2 * SPACE}px; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.disabled}; }}
QGroupBox {{ border: none; margin-top: {5 * SPACE}px; font-weight: 600; }}
QGroupBox::title {{ subcontrol-origin: margin; left: 0; color: {t.secondary}; }}
"""


def _drawing(name: str) -> str:
    """Returns a drawing of the resources as a style sheet takes it.

    Unlike `icons`, a style sheet knows no ``currentColor``: the drawing has its own.
    """
    return f'url("{resources.path(f"icons/{name}.svg").as_posix()}")'


def _views(t: Tokens) -> str:
    return f"""
QTreeView, QTableView, QListView {{
  background: {t.panel}; border: none; outline: none;
  alternate-background-color: {t.field};
  selection-background-color: {t.selection}; selection-color: {t.text};
  gridline-color: {t.hairline};
}}
QTreeView {{ selection-background-color: transparent; }}
QListView::item {{ height: {ROW_HEIGHT}px; padding: 0 {2 * SPACE}px; }}
QListView::item:hover {{ background: {t.hover}; }}
QListView::item:selected {{ background: {t.selection}; color: {t.text}; }}
QHeaderView {{ background: {t.panel}; border: none; }}
QHeaderView::section {{
  background: {t.panel}; color: {t.secondary}; border: none;
  border-bottom: 1px solid {t.hairline}; padding: {SPACE}px {2 * SPACE}px;
  font-size: {t.small_pt}pt;
}}
QTableCornerButton::section {{
  background: {t.panel}; border: none; border-bottom: 1px solid {t.hairline};
}}
"""


def _scrolls(t: Tokens) -> str:
    return f"""
QScrollBar {{ background: transparent; border: none; margin: 0; }}
QScrollBar:vertical {{ width: {2 * SPACE + 2}px; }}
QScrollBar:horizontal {{ height: {2 * SPACE + 2}px; }}
QScrollBar::handle {{ background: {t.scroll}; border-radius: 3px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: {8 * SPACE}px; }}
QScrollBar::handle:horizontal {{ min-width: {8 * SPACE}px; }}
QScrollBar::handle:hover {{ background: {t.scroll_hover}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; border: none; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QAbstractScrollArea::corner {{ background: transparent; }}
QScrollArea {{ background: transparent; border: none; }}
QScrollArea > QWidget > QWidget {{ background: transparent; }}
"""


def _chrome(t: Tokens) -> str:
    return f"""
QToolBar {{ background: {t.window}; border: none; spacing: {2 * SPACE}px;
  padding: {SPACE}px {2 * SPACE}px; }}
QToolBar::separator {{ width: {2 * SPACE}px; background: transparent; }}
QStatusBar {{ background: {t.window}; color: {t.secondary}; }}
QStatusBar::item {{ border: none; }}
QDockWidget {{ color: {t.secondary}; font-size: {t.small_pt}pt; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {t.hairline}; }}
QTabBar {{ background: transparent; qproperty-drawBase: 0; }}
QTabBar::tab {{
  background: transparent; color: {t.secondary}; border: none;
  border-bottom: 2px solid transparent; padding: {SPACE + 2}px {3 * SPACE}px;
}}
/* Seven tabs beside the call: narrower than those of the window. */
QTabWidget#runTabs QTabBar::tab {{ padding: {SPACE}px {2 * SPACE}px; }}
QTabBar::tab:hover {{ color: {t.text}; }}
QTabBar::tab:selected {{ color: {t.text}; border-bottom-color: {t.accent}; }}
QTabBar::tab:focus {{ background: {t.hover}; }}
QProgressBar {{
  background: {t.hairline}; border: none; border-radius: 2px; max-height: {SPACE}px;
  min-height: {SPACE}px;
}}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 2px; }}
"""


def _menus(t: Tokens) -> str:
    return f"""
QMenuBar {{ background: {t.window}; padding: 2px {SPACE}px; }}
QMenuBar::item {{ background: transparent; padding: {SPACE}px {2 * SPACE}px;
  border-radius: {SPACE}px; }}
QMenuBar::item:selected {{ background: {t.hover}; }}
QMenu {{ background: {t.panel}; border: 1px solid {t.border}; padding: {SPACE}px; }}
QMenu::item {{ padding: {SPACE}px {6 * SPACE}px {SPACE}px {3 * SPACE}px;
  border-radius: {SPACE}px; }}
QMenu::item:selected {{ background: {t.selection}; color: {t.text}; }}
QMenu::item:disabled {{ color: {t.disabled}; }}
QMenu::indicator {{ width: {3 * SPACE}px; height: {3 * SPACE}px;
  padding-left: {2 * SPACE}px; }}
QMenu::indicator:checked {{ image: {_drawing(t.menu_check)}; }}
QMenu::icon {{ padding-left: {2 * SPACE}px; }}
QMenu::separator {{ height: 1px; background: {t.hairline};
  margin: {SPACE}px {2 * SPACE}px; }}
"""


def _banners(t: Tokens) -> str:
    return f"""
QFrame[look="banner"] {{ background: {t.banner}; border: none;
  border-radius: {FIELD_RADIUS}px; }}
QFrame[look="warning"] {{ background: {t.banner_warning}; border: none;
  border-radius: {FIELD_RADIUS}px; }}
QFrame[look="error"] {{ background: {t.banner_error}; border: none;
  border-radius: {FIELD_RADIUS}px; }}
"""
