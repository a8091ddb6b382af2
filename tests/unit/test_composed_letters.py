"""One word is one word: letters composed, signs that nobody sees left out, and those that nobody can read told."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from text.normal_forms import compose, fold_case
from text.terms import split_words, weigh_segment
from tools.parsers import parse

WORDS = "Tiếng Việt, Gebühren und 한국"
APART = unicodedata.normalize("NFD", WORDS)


@pytest.mark.parametrize(
    ("name", "text"),
    [("x.txt", APART), ("x.md", APART), ("x.html", f"<p>{APART}</p>"), ("x.csv", APART), ("x.py", f"# {APART}")],
)
def test_every_format_composes_its_letters(name: str, text: str) -> None:
    assert parse(text.encode(), name=name).text == parse(compose(text).encode(), name=name).text


@pytest.mark.parametrize("text", [APART, f"\0{APART}\0\0", "क़ख़", "e\0\u0301 中文e\u0301"])
def test_anchors_of_document_ai_follow_the_letters(text: str) -> None:
    apart = f"{text}. Second paragraph."
    at = len(text) + 2
    pages = [{"paragraphs": [_layout(0, at), _layout(at, len(apart))]}]
    parsed = parse(json.dumps({"text": apart, "pages": pages}).encode(), name="x.json")
    words = [parsed.text[block.start : block.end] for block in parsed.blocks]
    assert words == [compose(text.replace("\0", "")) + ".", "Second paragraph."]


def _layout(start: int, end: int) -> dict[str, object]:
    return {"layout": {"textAnchor": {"textSegments": [{"startIndex": str(start), "endIndex": str(end)}]}}}


@pytest.mark.parametrize("unseen", ["\u00ad", "\u200b", "\u2060", "\ufeff"])
def test_what_nobody_sees_splits_no_word(unseen: str) -> None:
    written = f"The soft{unseen}ware is up{unseen}dated."
    assert parse(f"<p>{written}</p>".encode(), name="x.html").text == "The software is updated."
    plain = parse(written.encode(), name="x.txt").text
    assert plain == written
    assert split_words(plain) == ["the", "software", "is", "updated"]
    assert weigh_segment(plain).ids.tolist() == weigh_segment("The software is updated.").ids.tolist()


def test_turkish_capitals_are_their_small_letters() -> None:
    assert fold_case("İSTANBUL LİMANI NE ZAMAN AÇILIR?") == "istanbul limanı ne zaman açılır?"
    assert fold_case("İstanbul and IBM") == "istanbul and ibm"


@given(st.text())
def test_folding_again_changes_nothing(text: str) -> None:
    assert fold_case(fold_case(text)) == fold_case(text)


def test_many_marks_on_a_letter_take_no_time_in_their_square() -> None:
    assert len(compose("a" + "\u0301\u0316" * 200_000)) > 1


@pytest.mark.parametrize("name", ["x.txt", "x.md", "x.html", "x.csv"])
def test_letters_that_nobody_can_read_are_told_or_refused(name: str) -> None:
    some = parse("The lamp \ue001 turns \ue002 slowly.".encode(), name=name)
    assert "2 characters of the text" in some.warnings[0]
    with pytest.raises(UnreadableDocument, match="can't be read"):
        parse("\ue001\ue002\ue003\ue004 \ue005\ue006 a".encode(), name=name)


def test_a_line_alone_before_a_sentence_introduces_it() -> None:
    text = "Contract\n\nArticle 7\n\nThe tenant pays the water.\n\n第三条\n\n租户支付水费。\n\nBoth sign.\n"
    parsed = parse(text.encode(), name="x.txt")
    words = [parsed.text[block.start : block.end] for block in parsed.blocks]
    hung = {words[at]: [words[index] for index in block.hangs_on] for at, block in enumerate(parsed.blocks)}
    assert {word: above for word, above in hung.items() if above} == {
        "The tenant pays the water.": ["Article 7"],
        "租户支付水费。": ["第三条"],
    }


def test_the_suffix_of_a_name_with_spaces_behind_it_counts() -> None:
    assert parse(b"# Fees\n\nTen euros.", name="Fees.md ").blocks[0].kind == "heading"
