"""Where a passage's highlight stands in the Markdown that shows it."""

from typing import Any, cast

import pytest

from answers.highlighting import in_markdown, in_quote
from graph.evidence import ShownPassage


def passage(quote: str, highlight: str | None, start: int = 40) -> ShownPassage:
    made: dict[str, Any] = {"start": start, "end": start + len(quote), "quote": quote, "context": []}
    if highlight is not None:
        at = start + quote.index(highlight)
        made["highlight"] = {"start": at, "end": at + len(highlight)}
    return cast(ShownPassage, made)


@pytest.mark.parametrize(
    ("text", "quote", "highlight", "found"),
    [
        ("Ask first. It closes at 5.", "Ask first. It closes at 5.", "It closes at 5.", "It closes at 5."),
        ("| City | Fee |\n| --- | --- |\n| Hue | 5 |\n| Paris | 5 |", "Hue | 5\nParis | 5", "Paris | 5", "Paris | 5"),
        ("| A | B |\n| --- | --- |\n| 5 | 5 |\n| 5 | 5 |", "5 | 5\n5 | 5", "5 | 5", "5 | 5"),
        ("Steps:\n\n- **Open** it.\n- Save", "Steps:\n• Open it.\n• Save", "Open it.", "**Open** it."),
        (
            "见下表。\n\n滤芯须在7天内更换。",
            "见下表。滤芯须在7天内更换。",
            "滤芯须在7天内更换。",
            "滤芯须在7天内更换。",
        ),
        ("Run:\n\n```\nmake a\nmake b\n```", "Run:\nmake a\nmake b", "make b", "make b"),
        ("Other words, then 5 days here.", "and 5 days here.", "5 days", "5 days"),
    ],
)
def test_the_highlight_is_found_whatever_signs_stand_between(text: str, quote: str, highlight: str, found: str) -> None:
    span = in_markdown(text, passage(quote, highlight))
    assert span is not None
    assert text[slice(*span)] == found


def test_equal_rows_are_told_apart_by_what_stands_before_them() -> None:
    text = "| A | B |\n| --- | --- |\n| x | 5 |\n| y | 5 |\n| z | 5 |"
    shown = passage("x | 5\ny | 5\nz | 5", "z | 5")
    shown["highlight"] = {"start": 40 + len("x | 5\ny | "), "end": 40 + len("x | 5\ny | 5")}
    assert in_markdown(text, shown) == (text.index("y | 5") + 4, text.index("y | 5") + 5)


@pytest.mark.parametrize("highlight", [None, "It closes at 5."])
def test_what_has_no_highlight_or_is_all_of_it_needs_no_mark(highlight: str | None) -> None:
    shown = passage("It closes at 5.", highlight)
    assert in_quote(shown) is None
    assert in_markdown("It closes at 5.", shown) is None


def test_a_highlight_that_the_text_does_not_say_is_not_found() -> None:
    assert in_markdown("Something else.", passage("It closes at 5. Ask.", "Ask.")) is None
    assert in_markdown("---", passage("— It. —", "—")) is None
