"""A sentence that goes on over the end of a page is one entry of one segment, and the next page begins behind it."""

from dataclasses import replace

import pytest

from answers.citations import page_at
from answers.entries import entries_of
from answers.passage_markdown import as_markdown
from graph.evidence import BlockKind, Segment
from tools.embeddings.embedder import count_tokens
from tools.parsers import Parsed
from tools.parsers.canonical_text import Block
from tools.retrieval.segmenting import SegmentSize, segment


def pages(*texts: str, kind: BlockKind = "paragraph") -> Parsed:
    """Return a PDF of pages with one block each, over whose ends sentences go on."""
    text = "\f".join(texts)
    starts = [sum(len(each) + 1 for each in texts[:page]) for page in range(len(texts))]
    blocks = [
        Block(start, start + len(each), kind, page_idx=page)
        for page, (start, each) in enumerate(zip(starts, texts, strict=True))
    ]
    return Parsed(text, tuple(blocks), media_type="application/pdf")


def stored(parsed: Parsed, size: str = "300 tokens") -> list[Segment]:
    spans = segment(parsed, SegmentSize.parse(size), count_tokens)
    assert "".join(parsed.text[span.start : span.end] for span in spans) == parsed.text
    return [
        Segment(
            "d",
            span.segment_index,
            span.start,
            span.end,
            parsed.text[span.start : span.end],
            span.page_idx,
            blocks=span.blocks,
        )
        for span in spans
    ]


@pytest.mark.parametrize("size", ["300 tokens", "paragraph", "12 tokens"])
def test_a_sentence_over_two_pages_is_whole(size: str) -> None:
    parsed = pages("It began in May. The rent stays until the end of the", "contract. The fee is 4 euros a day.")
    segments = stored(parsed, size)
    entries = [(entry.text, each.page_idx) for each in segments for entry in entries_of(each)]
    assert entries[-2:] == [
        ("The rent stays until the end of the\fcontract.", 0),
        ("The fee is 4 euros a day.", 1),
    ]
    whole = next(each for each in segments if "rent" in each.text)
    at = parsed.text.index("contract")
    assert (page_at(whole, whole.start), page_at(whole, at)) == (0, 1)
    [entry] = [each for each in entries_of(whole) if "rent" in each.text]
    assert as_markdown(whole, [entry]) == "The rent stays until the end of the contract."


def test_a_sentence_may_go_on_over_more_than_one_page() -> None:
    [only, last] = stored(pages("The rent stays until", "the end of", "the contract. Then it ends."))
    assert (only.text, only.page_idx) == ("The rent stays until\fthe end of\fthe contract. ", 0)
    assert (last.text, last.page_idx) == ("Then it ends.", 2)


def test_a_row_over_two_pages_is_one() -> None:
    [only] = stored(pages("Lamp | turns once in", "nine seconds | 4 euros", kind="table_row"))
    assert [entry.text for entry in entries_of(only)] == ["Lamp | turns once in\fnine seconds | 4 euros"]


def test_what_hangs_on_a_block_still_does() -> None:
    parsed = pages("One. Two goes", "on. Three:", "an item.")
    first, second, third = parsed.blocks
    text = parsed.text[: second.end] + "\n\f" + parsed.text[third.start :]
    item = Block(third.start + 1, third.end + 1, "list_item", page_idx=2, hangs_on=(1,))
    segments = stored(replace(parsed, text=text, blocks=(first, second, item)))
    assert [each.text for each in segments[-1].blocks[0].context] == ["Three:"]


def test_pages_of_plain_text_are_apart() -> None:
    parsed = replace(pages("The rent stays until", "the end."), media_type="text/plain")
    assert [each.page_idx for each in stored(parsed)] == [0, 1]
