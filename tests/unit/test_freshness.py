"""What has become of quotes when their documents were edited: exact over scripts of edits."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Citation, CitationContext, ContextSlice, Identity, Page, Segment, SegmentBlock, Span
from tools.sessions.freshness import PlacedQuote, call_fresh, check_freshness, cited_segments, relocate_quotes

ME = Identity()


class Shelf:
    """Documents as segments, cut at blank lines; counts the reads."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._pages = {document_id: _cut(document_id, text) for document_id, text in texts.items()}
        self.reads = 0

    async def read_cited(
        self, groups: Sequence[Sequence[str]], identity: Identity
    ) -> tuple[list[bytes], list[Segment]]:
        self.reads += 1
        cited = {segment_id for group in groups for segment_id in group}
        found = [s for page in self._pages.values() for s in page.segments if s.segment_id in cited]
        return [b"" for _ in groups], found

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        self.reads += 1
        return [self._pages[document_id] for document_id in document_ids if document_id in self._pages]

    def cite(self, document_id: str, quote: str, nth: int = 0) -> Citation:
        """Cite the nth place of a quote."""
        page = self._pages[document_id]
        text = "".join(segment.text for segment in page.segments)
        start = -1
        for _ in range(nth + 1):
            start = text.index(quote, start + 1)
        segment = next(s for s in page.segments if s.start <= start < s.end)
        return Citation(
            segment_id=segment.segment_id,
            document_id=document_id,
            segment_index=segment.segment_index,
            page_idx=None,
            start=start,
            end=start + len(quote),
            quote=quote,
            origin="cited",
            verdict="supported",
            source_index=segment.segment_index + 1,
            section_index=0,
        )


def _cut(document_id: str, text: str) -> Page:
    segments: list[Segment] = []
    start, heading = 0, ""
    for part in text.split("\n\n"):
        heading = part.removeprefix("# ") if part.startswith("# ") else heading
        end = min(start + len(part) + 2, len(text))
        segments.append(Segment(document_id, len(segments), start, end, text[start:end], heading=heading))
        start = end
    return Page(document_id, document_id, tuple(segments))


async def check(bodies: Sequence[dict[str, Any]], shelf: Shelf) -> list[dict[str, Any]]:
    """Check answers as they are when they come from the database: all their citations are called fresh."""
    known = deepcopy(list(bodies))
    for body in known:
        call_fresh(body)
    before = deepcopy(known)
    checked = [each.body for each in await check_freshness(known, shelf, ME)]
    assert known == before, "the bodies stay as they are"
    return checked


async def told(
    before: str, after: str | None, *quotes: str | tuple[str, int], sources: list[dict[str, Any]] | None = None
) -> list[tuple[str, str | None]]:
    """Cite quotes of a document, then change its text, and give each one's freshness and the word before it now."""
    old = Shelf({"d": before})
    citations = [old.cite("d", *((quote,) if isinstance(quote, str) else quote)) for quote in quotes]
    later = Shelf({} if after is None else {"d": after})
    [body] = await check([{"citations": citations, "sources": sources or []}], later)
    return [_said(citation, after) for citation in body["citations"]]


def _said(citation: Citation, after: str | None) -> tuple[str, str | None]:
    now = citation.get("now")
    if now is None or after is None:
        return citation["freshness"], None
    assert after[now["start"] : now["end"]] == citation["quote"]
    return citation["freshness"], (["", *after[: now["start"]].split()])[-1]


LEAVE = "Every employee gets 25 days of annual leave."
NOTICE = "The notice period is three months."
BOOK = f"# Leave\n\n{LEAVE} Unused leave lapses in March.\n\n# Notice\n\n{NOTICE}"
CHANGED, DELETED, FRESH = ("changed", None), ("deleted", None), ("fresh", None)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BOOK, [FRESH, FRESH]),
        (BOOK + "\n\nA new end.", [FRESH, FRESH]),
        ("A new start.\n\n" + BOOK, [("moved", "Leave"), ("moved", "Notice")]),
        (BOOK.replace(LEAVE, LEAVE + " No more."), [FRESH, ("moved", "Notice")]),
        (f"# Notice\n\n{NOTICE}\n\n# Leave\n\n{LEAVE}", [("moved", "Leave"), ("moved", "Notice")]),
        (BOOK.replace("25", "30"), [CHANGED, FRESH]),
        (BOOK.replace("three months", "one month"), [FRESH, CHANGED]),
        (BOOK.replace(LEAVE + " ", ""), [CHANGED, ("moved", "Notice")]),
        (BOOK.replace("days of", "days  of"), [CHANGED, ("moved", "Notice")]),
        (BOOK.replace("days of", "days\nof"), [CHANGED, FRESH]),
        (None, [DELETED, DELETED]),
    ],
)
async def test_an_edit_is_told_as_what_it_is(after: str | None, expected: list[tuple[str, str | None]]) -> None:
    assert await told(BOOK, after, LEAVE, NOTICE) == expected


SENTENCES = st.lists(
    st.text("abcdefgh áếß年假。, 12", min_size=3, max_size=12).map(lambda words: f"S{words}."),
    min_size=1,
    max_size=8,
    unique=True,
)


@given(SENTENCES, st.data())
async def test_a_script_of_edits_is_labelled_exactly(words: list[str], data: st.DataObject) -> None:
    """Paragraphs that can be told apart, any of them inserted, moved, reworded and deleted."""
    paragraphs = [f"<{number}> {text}" for number, text in enumerate(words)]
    before = "\n\n".join(paragraphs)
    now: list[tuple[int | None, str]] = list(enumerate(paragraphs))
    for step in range(data.draw(st.integers(0, 6))):
        kind = data.draw(st.sampled_from(["insert", "move", "reword", "delete"]))
        at = data.draw(st.integers(0, len(now) - 1)) if now else 0
        if kind == "insert" or not now:
            now.insert(at, (None, f"(new {step})"))
        elif kind == "move":
            paragraph = now.pop(at)
            now.insert(data.draw(st.integers(0, len(now))), paragraph)
        elif kind == "reword":
            text = now[at][1]
            now[at] = (None, text[:3] + "?" + text[3:])
        else:
            now.pop(at)
    after = "\n\n".join(text for _, text in now)
    where: dict[int, int] = {}
    offset = 0
    for number, text in now:
        if number is not None:
            where[number] = offset
        offset += len(text) + 2
    old, later = Shelf({"d": before}), Shelf({"d": after})
    citations = [old.cite("d", paragraph) for paragraph in paragraphs]
    [body] = await check([{"citations": citations}], later)
    for number, citation in enumerate(body["citations"]):
        if number not in where:
            assert citation["freshness"] == "changed"
        elif where[number] == citation["start"]:
            assert citation["freshness"] == "fresh"
        else:
            assert (citation["freshness"], citation["now"]["start"]) == ("moved", where[number])


async def test_repeated_sentences_keep_their_order_when_the_text_moves() -> None:
    before = "See below. One.\n\nSee below. Two.\n\nSee below. Three."
    after = "Preface of some length, added later.\n\n" + before
    found = await told(before, after, "See below.", ("See below.", 1), ("See below.", 2))
    assert [tail for _, tail in found] == ["later.", "One.", "Two."]


def test_repeated_sentences_keep_their_order_among_more_places() -> None:
    first, second = PlacedQuote(10, "Wait."), PlacedQuote(20, "Wait.")
    text = "Wait.".ljust(18) + "Wait.".ljust(27) + "Wait."
    assert relocate_quotes([first, second], text) == {first: 0, second: 18}


async def test_a_repeated_sentence_moves_with_what_stands_around_it() -> None:
    before = "See below. Trains run daily.\n\nSee below. Buses do not."
    after = "See below. Ferries, added here.\n\n" + before
    [_, found] = await told(before, after, "Buses do not.", ("See below.", 1))
    assert found == ("moved", "daily.")


async def test_a_repeated_sentence_is_looked_for_under_its_own_heading() -> None:
    before = "# Trains\n\nSee below.\n\n# Buses\n\nSee below."
    after = "# Buses\n\nSee below.\n\nMore of buses.\n\n# Trains\n\nSee below."
    sources = [{"index": 2, "heading": "Trains"}, {"index": 4, "heading": "Buses"}]
    found = await told(before, after, "See below.", ("See below.", 1), sources=sources)
    assert found == [("moved", "Trains"), ("moved", "Buses")]


async def test_repeated_sentences_go_where_their_neighbours_have_gone() -> None:
    trains, buses = "See below. Trains run daily.", "See below. Buses do not."
    quotes = ["Trains run daily.", "Buses do not.", "See below.", ("See below.", 1)]
    found = await told(f"{trains}\n\n{buses}", f"New. {buses}\n\n{trains}", *quotes)
    assert [tail for _, tail in found] == ["below.", "below.", "not.", "New."]


@pytest.mark.parametrize(
    ("before", "quote", "after"),
    [
        ("Price: 25", "Price: 25", "Price: 250"),
        ("Price: 25", "Price: 25", "Price: 25.50"),
        ("5 days", "5 days", "2.5 days"),
        ("rate per day", "rate per day", "rate per daytime"),
        ("cafe", "cafe", "cafe\u0301"),
    ],
)
async def test_a_longer_word_or_number_is_not_the_same_quote(before: str, quote: str, after: str) -> None:
    assert await told(before, after, quote) == [CHANGED]


async def test_a_quote_within_a_line_without_spaces_is_found() -> None:
    found = await told("年假为25天。通知期为三个月。", "前言。年假为25天。通知期为三个月。", "通知期为三个月。")
    assert found == [("moved", "前言。年假为25天。")]


async def test_another_segment_number_is_said_where_the_place_is_the_same() -> None:
    old = Shelf({"d": "One two.\n\nThree."})
    citation = old.cite("d", "Three.")
    later = Shelf({"d": "One two.\n Three."})
    [body] = await check([{"citations": [citation]}], later)
    assert body["citations"][0]["freshness"] == "fresh"
    assert body["citations"][0]["now"]["segment_id"] == "d:0"


async def test_citations_of_claims_are_checked_too_and_two_reads_are_all() -> None:
    shelf = Shelf({f"d{n}": BOOK for n in range(50)})
    citations = [shelf.cite(f"d{n}", LEAVE) for n in range(50)]
    body = {"citations": citations, "claims": [{"text": "x", "citations": [citation]} for citation in citations]}
    edited = Shelf({f"d{n}": BOOK if n % 2 else "New. " + BOOK for n in range(49)})
    [checked] = await check([body], edited)
    words = [citation["freshness"] for citation in checked["citations"]]
    assert words == [*(["moved", "fresh"] * 24), "moved", "deleted"]
    assert [claim["citations"][0] for claim in checked["claims"]] == checked["citations"]
    assert edited.reads == 2


def cite_passage(shelf: Shelf, quote: str, highlight: str) -> Citation:
    """Cite a passage by the segment that its highlight is in."""
    cited, best = shelf.cite("d", quote), shelf.cite("d", highlight)
    place = {"segment_id": best["segment_id"], "segment_index": best["segment_index"]}
    return Citation(**{**cited, **place}, highlight=Span(start=best["start"], end=best["end"]))


@pytest.mark.parametrize(
    ("after", "freshness", "begins_in", "reads"),
    [
        (BOOK, "fresh", None, 1),
        (BOOK + "\n\nMore.", "fresh", None, 1),
        (BOOK.replace("# Leave", "# Break"), "changed", None, 2),
        (BOOK.replace("25", "30"), "changed", None, 2),
        ("New.\n\n" + BOOK, "moved", "d:2", 2),
        (BOOK.replace("\n\nEvery", "\n Every"), "changed", None, 2),
    ],
)
async def test_a_passage_that_goes_beyond_its_segment_is_looked_up_in_what_is_beside_it(
    after: str, freshness: str, begins_in: str | None, reads: int
) -> None:
    citation = cite_passage(Shelf({"d": BOOK}), f"# Leave\n\n{LEAVE}", LEAVE)
    later = Shelf({"d": after})
    [body] = await check([{"citations": [citation]}], later)
    [found] = body["citations"]
    assert found["freshness"] == freshness
    assert found.get("now", {}).get("segment_id") == begins_in  # where the highlight is
    assert later.reads == reads


def test_what_is_beside_the_segment_of_a_passage_is_looked_up_with_it() -> None:
    shelf = Shelf({"d": BOOK})
    sentence, passage = shelf.cite("d", NOTICE), cite_passage(shelf, f"# Leave\n\n{LEAVE}", LEAVE)
    assert cited_segments({"citations": [sentence]}) == ("d:3",)
    assert set(cited_segments({"citations": [passage]})) == {"d:0", "d:1", "d:2"}


async def test_nothing_is_read_of_no_answer() -> None:
    shelf = Shelf({})
    assert await check([], shelf) == []
    assert shelf.reads == 0


@given(st.text("ab. ", max_size=30), st.lists(st.tuples(st.integers(0, 30), st.text("ab. ", min_size=1, max_size=4))))
def test_whatever_is_found_stands_there(text: str, pairs: list[tuple[int, str]]) -> None:
    quotes = [PlacedQuote(start, quote) for start, quote in pairs]
    for quoted, at in relocate_quotes(quotes, text).items():
        assert text[at : at + len(quoted.quote)] == quoted.quote


class Defined(Shelf):
    """A shelf whose segments hang on the term in the first line of their document."""

    async def read_cited(
        self, groups: Sequence[Sequence[str]], identity: Identity
    ) -> tuple[list[bytes], list[Segment]]:
        fingerprints, found = await super().read_cited(groups, identity)
        return fingerprints, list(map(self._defined, found))

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        pages = await super().read_pages(document_ids, identity)
        return [replace(page, segments=tuple(map(self._defined, page.segments))) for page in pages]

    def _defined(self, segment: Segment) -> Segment:
        term = self._pages[segment.document_id].segments[0].text.split("\n")[0]
        hung = (ContextSlice("term", 0, len(term), term),) if segment.start else ()
        return replace(segment, blocks=(SegmentBlock(segment.start, segment.end, "paragraph", hung),))


@pytest.mark.parametrize(
    ("after", "freshness"),
    [
        ("work_mem\n\nThe default is 4MB.\n\nMore.", "fresh"),
        ("work_mem\n\nNew here. The default is 4MB.", "moved"),
        ("work_mem\n\nNew here.\n\nThe default is 4MB.", "moved"),
        ("temp_mem\n\nThe default is 4MB.", "changed"),
        ("temp_buffers\n\nThe default is 4MB.", "changed"),
        ("work_mem\n\nThe default is 8MB.", "changed"),
    ],
)
async def test_a_quote_that_hangs_on_other_words_has_changed(after: str, freshness: str) -> None:
    before = Defined({"d": "work_mem\n\nThe default is 4MB."})
    cited = before.cite("d", "The default is 4MB.")
    cited["context"] = [CitationContext(role="term", start=0, end=8, text="work_mem")]
    [body] = await check([{"citations": [cited]}], Defined({"d": after}))
    assert body["citations"][0]["freshness"] == freshness
    assert ("now" in body["citations"][0]) == (freshness == "moved")
