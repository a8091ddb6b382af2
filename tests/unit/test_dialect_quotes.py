"""Quotes with what they hang on, as clients without citations get them."""

import json
from typing import Any

import pytest

from api.dialects.openai.encoder import OpenAIEncoder
from api.dialects.openai.schemas import CompletionForm
from api.dialects.quotes import QuoteInContext, excerpt_of_quotes, in_context, quotes_in_context
from graph.evidence import Citation, CitationContext, ContextRole, Copy
from tests.wire.script import envelopes

ROW = "work_mem | 4MB | per sort"


def context(*texts: str, role: ContextRole = "header") -> list[CitationContext]:
    return [CitationContext(role=role, start=0, end=len(text), text=text) for text in texts]


def citation(quote: str, source: int = 1, *, hangs_on: list[CitationContext] | None = None) -> Citation:
    cited = Citation(
        segment_id="d:0",
        document_id="d",
        segment_index=0,
        page_idx=None,
        start=0,
        end=len(quote),
        quote=quote,
        origin="cited",
        verdict="supported",
        source_index=source,
        section_index=0,
    )
    return cited if hangs_on is None else Citation(**cited, context=hangs_on)


@pytest.mark.parametrize(
    ("hangs_on", "quote", "text"),
    [
        (("Setting | Default | Scope",), ROW, f"Setting | Default | Scope: {ROW}"),
        (("Table 1. Memory", "Setting | Default"), ROW, f"Table 1. Memory: Setting | Default: {ROW}"),
        (("The plan does not cover:",), "- Dental treatment.", "The plan does not cover: - Dental treatment."),
        (("Until 2020 this held.",), "It closes at 5.", "Until 2020 this held. It closes at 5."),
        (("以下不包括：",), "牙科治疗。", "以下不包括： 牙科治疗。"),
        (("Same", "Same"), "two\n  lines", "Same: two lines"),
        ((), "Alone.", "Alone."),
    ],
)
def test_a_quote_is_shown_behind_what_it_hangs_on(hangs_on: tuple[str, ...], quote: str, text: str) -> None:
    assert in_context(QuoteInContext(quote=quote, context=context(*hangs_on))) == text


def test_sources_whose_quotes_hang_on_nothing_are_left_out() -> None:
    header = context("Setting | Default")
    row, plain = citation(ROW, 2, hangs_on=header), citation("Memory is shared.", 2)
    quotes = quotes_in_context([citation("Alone.", 1), row, plain, row])
    assert quotes == {
        2: [QuoteInContext(quote=ROW, context=header), QuoteInContext(quote="Memory is shared.", context=[])]
    }
    assert excerpt_of_quotes(quotes[2]) == f"Setting | Default: {ROW} ... Memory is shared."


def test_a_passage_comes_with_its_highlight_and_the_offsets_to_find_it_by() -> None:
    passage = citation("It opens at 8. It closes at 5.")
    passage |= {"highlight": {"start": 15, "end": 30}, "heading_path": ["Office", "Hours"]}
    assert quotes_in_context([passage, citation("Alone.", 2)]) == {
        1: [
            {
                "quote": passage["quote"], "context": [], "start": 0, "end": 30,
                "highlight": {"start": 15, "end": 30}, "heading_path": ["Office", "Hours"],
            }
        ]
    }  # fmt: skip


def test_a_quote_comes_with_the_documents_that_hold_copies_of_it() -> None:
    passage = citation("It opens at 8.")
    copy: Copy = {
        "segment_id": "o:0", "document_id": "o", "title": "Old", "date": "2025", "dated_by": "document",
        "differs": False,
    }  # fmt: skip
    told: Any = {"date": "2026-05-01", "dated_by": "library", "copies": [copy]}
    passage |= {"highlight": {"start": 0, "end": 14}, **told}
    [[quote]] = quotes_in_context([passage]).values()
    assert quote.items() >= told.items()


def test_the_excerpt_of_a_long_passage_that_hangs_on_something_shows_its_highlight() -> None:
    words, best = "Nothing of note is said here. " * 30, "It closes at 5."
    passage = citation(words + best + words, hangs_on=context("Hours"))
    passage["highlight"] = {"start": len(words), "end": len(words) + len(best)}
    shown = excerpt_of_quotes(quotes_in_context([passage])[1])
    assert best in shown
    assert len(shown) <= 500


def test_an_excerpt_stays_as_short_as_others() -> None:
    quote = QuoteInContext(quote="word " * 200, context=context("Setting"))
    assert len(excerpt_of_quotes([quote])) <= 500


def test_open_webui_gets_the_quote_as_more_text_of_its_source() -> None:
    encoder = OpenAIEncoder(CompletionForm(events=True))
    frames = b"".join(map(encoder.encode, envelopes())).decode().split("\n\n")
    told = [json.loads(frame[6:]) for frame in frames if frame.startswith("data: {")]
    sources = [each["event"]["data"] for each in told if each.get("event", {}).get("type") == "source"]
    first, *_, last = sources
    assert last["metadata"] == first["metadata"]
    assert last["document"] == ["Leave 🏖: Every employee gets 25 days of annual leave 🏖 中文."]
