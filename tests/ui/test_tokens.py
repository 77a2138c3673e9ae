from __future__ import annotations

import dataclasses

import pytest

from inspector import resources
from inspector.ui.stylesheet import stylesheet
from inspector.ui.tokens import (
    DARK,
    LIGHT,
    MARK_SURFACES,
    MARKS,
    ORIGINS,
    SPACE,
    VERDICTS,
    Tokens,
)
from inspector.variables.leaf import ORIGIN_ORDER

THEMES = [LIGHT, DARK]
TEXTS = ("text", "secondary", "accent", "good", "info", "quiet", "warning", "error")


def _luminance(color: str) -> float:
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_the_one_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tokens", THEMES, ids=lambda tokens: tokens.name)
@pytest.mark.parametrize("surface", MARK_SURFACES)
@pytest.mark.parametrize("text", TEXTS)
def test_text_and_marks_can_be_read(tokens: Tokens, surface: str, text: str) -> None:
    assert contrast(getattr(tokens, text), getattr(tokens, surface)) >= 4.5


@pytest.mark.parametrize("tokens", THEMES, ids=lambda tokens: tokens.name)
@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("on_accent", "accent"),
        ("on_accent", "accent_hover"),
        ("text", "banner"),
        ("text", "banner_warning"),
        ("text", "banner_error"),
        ("accent", "banner"),
        ("warning", "banner_warning"),
        ("error", "banner_error"),
        ("secondary", "banner"),
        ("secondary", "banner_warning"),
        ("secondary", "banner_error"),
    ],
)
def test_text_on_its_own_surface(tokens: Tokens, text: str, surface: str) -> None:
    assert contrast(getattr(tokens, text), getattr(tokens, surface)) >= 4.5


@pytest.mark.parametrize("tokens", THEMES, ids=lambda tokens: tokens.name)
def test_three_sizes_none_under_eight(tokens: Tokens) -> None:
    sizes = {tokens.small_pt, tokens.body_pt, tokens.title_pt}
    assert len(sizes) == 3
    assert min(sizes) >= 8


def test_every_origin_and_verdict_has_a_mark() -> None:
    assert tuple(str(origin) for origin in ORIGIN_ORDER) == ORIGINS
    for name in (*ORIGINS, *VERDICTS):
        assert MARKS[name].glyph
        assert MARKS[name].word
        assert MARKS[name].token in {field.name for field in dataclasses.fields(LIGHT)}


def test_marks_are_those_of_the_design() -> None:
    assert (LIGHT.good, DARK.good) == ("#0c6b40", "#4cc38a")
    assert (LIGHT.info, DARK.info) == ("#1257b5", "#6cb3ff")
    assert (LIGHT.quiet, DARK.quiet) == ("#5f6772", "#a6aeb8")
    assert (LIGHT.warning, DARK.warning) == ("#9a4d06", "#f2a65a")


@pytest.mark.parametrize("tokens", THEMES, ids=lambda tokens: tokens.name)
def test_style_sheet_names_only_tokens(tokens: Tokens) -> None:
    values = {str(value) for value in dataclasses.asdict(tokens).values()}
    words = stylesheet(tokens, "Sans", "Mono").replace(";", " ").split()
    assert {word for word in words if word.startswith("#")} <= values
    assert SPACE == 4


@pytest.mark.parametrize("tokens", THEMES, ids=lambda tokens: tokens.name)
def test_check_marks_are_drawn_and_seen(tokens: Tokens) -> None:
    drawing = resources.path(f"icons/{tokens.check}.svg").read_text(encoding="utf-8")
    assert f'stroke="{tokens.on_accent}"' in drawing
    menu = resources.path(f"icons/{tokens.menu_check}.svg").read_text(encoding="utf-8")
    stroke = menu.partition('stroke="')[2].partition('"')[0]
    assert contrast(stroke, tokens.panel) >= 4.5
    assert f"/{tokens.check}.svg" in stylesheet(tokens, "Sans", "Mono")
