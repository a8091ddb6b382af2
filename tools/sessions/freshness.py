"""Check whether the quotes of an old answer are still in today's text, and where they moved to."""

import asyncio
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from answers.citations import context_of_quote
from answers.surroundings import Around, beside
from graph.evidence import Citation, CitationContext, Freshness, Identity, Page, Place, Segment
from text.words import cuts_word, is_whole
from tools.retrieval.segment_store import SegmentStore


@dataclass(frozen=True, slots=True, order=True)
class PlacedQuote:
    """A quote with its old offset and its old heading path, which distinguishes repeated quotes.

    ``bears`` is where the highlight of a passage begins in it.
    """

    start: int
    quote: str
    heading: str = field(default="", compare=False)
    bears: int = field(default=0, compare=False)


def relocate_quotes(
    quotes: Collection[PlacedQuote],
    text: str,
    *,
    edges: Collection[int] = (),
    heading_at: Callable[[int], str] = lambda _: "",
) -> dict[PlacedQuote, int]:
    """Return the offset of each quote in ``text``; quotes that are not in it are left out.

    A quote that is still at its old offset has stayed there. Otherwise it has moved. If its words occur more than once,
    the place is chosen by, in this order: the shift of the nearest quote whose place is certain; the same heading; and
    the least total shift that keeps quotes of the same words in order. No two quotes share a place while there are
    enough. Every character must match, including white space. A match inside a longer word or number does not count,
    unless the text is cut there; ``edges`` are the offsets of such cuts.
    """
    cuts = frozenset(edges)
    by_words: dict[str, list[PlacedQuote]] = defaultdict(list)
    for quoted in sorted(set(quotes)):
        by_words[quoted.quote].append(quoted)
    places = {words: _occurrences(words, text, cuts) for words in by_words}
    found = {
        quoted: quoted.start
        for words in by_words
        for quoted in by_words[words]
        if _contains(places[words], quoted.start)
    }
    for words, same in by_words.items():
        if len(same) == 1 and len(places[words]) == 1:
            found.setdefault(same[0], places[words][0])
    anchors = sorted((quoted.start, at - quoted.start) for quoted, at in found.items())
    for words, same in by_words.items():
        moved = [quoted for quoted in same if quoted not in found]
        taken = {found.get(quoted) for quoted in same}
        free = [at for at in places[words] if at not in taken] or places[words]
        if moved and free:
            found |= _assign_places(moved, free, anchors, heading_at)
    return found


def _assign_places(
    moved: Sequence[PlacedQuote],
    free: Sequence[int],
    anchors: Sequence[tuple[int, int]],
    heading_at: Callable[[int], str],
) -> dict[PlacedQuote, int]:
    """Assign moved quotes of the same words to the free places."""
    near = anchors or [(0, 0)]  # the shift is that of the nearest quote whose place is certain
    shifts = {quoted: min(near, key=lambda each: abs(each[0] - quoted.start))[1] for quoted in moved}
    found = {quoted: at for quoted in moved if anchors and _contains(free, at := quoted.start + shifts[quoted])}
    under: dict[str, list[int]] = defaultdict(list)
    for at in free:
        if at not in found.values():
            under[heading_at(at)].append(at)
    for heading, places in under.items():
        same = [quoted for quoted in moved if quoted not in found and quoted.heading == heading != ""]
        if len(same) <= len(places):
            found |= _in_order(same, places, shifts)
    rest = [quoted for quoted in moved if quoted not in found]
    return found | _in_order(rest, [at for at in free if at not in found.values()] or free, shifts)


def _occurrences(quote: str, text: str, cuts: frozenset[int]) -> list[int]:
    """Return, in order, every offset at which a quote occurs between word boundaries or cuts, overlapping ones too."""
    found: list[int] = []
    at = text.find(quote) if quote else -1
    while at >= 0:
        end = at + len(quote)
        if (at in cuts or not cuts_word(text, at)) and (end in cuts or not cuts_word(text, end)):
            found.append(at)
        at = text.find(quote, at + 1)
    return found


def _contains(places: Sequence[int], at: int) -> bool:
    place = bisect_left(places, at)
    return place < len(places) and places[place] == at


def _in_order(
    quotes: Sequence[PlacedQuote], places: Sequence[int], shifts: Mapping[PlacedQuote, int]
) -> dict[PlacedQuote, int]:
    """Assign places in ascending order with the least total distance; with too few, each quote its nearest place."""
    costs = [[abs(at - quoted.start - shifts[quoted]) for at in places] for quoted in quotes]
    if len(quotes) > len(places):
        return {quoted: places[row.index(min(row))] for quoted, row in zip(quotes, costs, strict=True)}
    # best[q][p]: the least cost of the first q quotes within the first p places
    best: list[list[float]] = [[0.0] * (len(places) + 1)]
    for q, row in enumerate(costs):
        line = [float("inf")] * (len(places) + 1)
        for p in range(q, len(places)):
            line[p + 1] = min(line[p], best[q][p] + row[p])
        best.append(line)
    found: dict[PlacedQuote, int] = {}
    p = len(places)
    for q in range(len(quotes), 0, -1):
        while best[q][p - 1] <= best[q][p]:
            p -= 1
        p -= 1
        found[quotes[q - 1]] = places[p]
    return found


QuoteStatus = tuple[Freshness, Place | None]
DELETED: QuoteStatus = ("deleted", None)


class CurrentText:
    """Today's text of a document, in which the quotes of answers are looked up."""

    def __init__(self, page: Page) -> None:
        self._segments = page.segments
        self._by_id = {segment.segment_id: segment for segment in page.segments}
        self._starts = [segment.start for segment in page.segments]
        self._text = "".join(segment.text for segment in page.segments)

    def keeps(self, context: Sequence[CitationContext], moved_by: int, place: Place) -> bool:
        """Whether a quote at a place today hangs on the same words as before it ``moved_by`` so many characters."""
        around = Around(self._by_id, [place["segment_id"]])[place["segment_id"]]
        today = {each["text"] for each in context_of_quote(around, place["start"], place["end"])}
        return all(each["text"] in today or self._stands(each["text"], each["start"] + moved_by) for each in context)

    def _stands(self, text: str, at: int) -> bool:
        return at >= 0 and self._text.startswith(text, at)

    def locate(self, quotes: Sequence[PlacedQuote]) -> dict[PlacedQuote, QuoteStatus]:
        """Return for each quote of one answer whether it is fresh, moved or changed, and its place.

        All of them quote one version of the document, so those that stayed show how far the text around others moved.
        """
        found = relocate_quotes(quotes, self._text, edges=self._starts, heading_at=self._heading)
        return {quoted: self._status(quoted, found.get(quoted)) for quoted in quotes}

    def _status(self, quoted: PlacedQuote, at: int | None) -> QuoteStatus:
        if at is None:
            return "changed", None
        segment = self._segment_at(at + quoted.bears)
        place = Place(
            segment_id=segment.segment_id,
            segment_index=segment.segment_index,
            page_idx=segment.page_idx,
            start=at,
            end=at + len(quoted.quote),
        )
        return "fresh" if at == quoted.start else "moved", place

    def _heading(self, at: int) -> str:
        return self._segment_at(at).heading

    def _segment_at(self, at: int) -> Segment:
        return self._segments[bisect_right(self._starts, at) - 1]


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer's body with the freshness of its citations.

    ``fingerprint`` is that of the cited segments if all quotes are fresh in them, and None if any is not.
    """

    body: dict[str, Any]
    fingerprint: bytes | None


def call_fresh(body: dict[str, Any]) -> None:
    """Call every citation of an answer fresh, in the body itself."""
    for citation in _citations(body):
        citation["freshness"] = "fresh"


def cited_segments(body: dict[str, Any]) -> tuple[str, ...]:
    """Return the ids of the segments that an answer quotes, each once; of passages also of those beside theirs.

    Of such a neighbour nothing may be stored: a document has a first segment and a last one.
    """
    found = dict.fromkeys(citation["segment_id"] for citation in _citations(body))
    passages = [citation["segment_id"] for citation in _citations(body) if "highlight" in citation]
    return tuple(found | dict.fromkeys(beside(passages)))


async def check_freshness(bodies: Sequence[dict[str, Any]], reader: SegmentStore, identity: Identity) -> list[Checked]:
    """Check the citations of answers that were called fresh; set ``now`` in each whose place differs.

    A quote that is still there counts as changed where it no longer hangs on the same words, such as the term that it
    defines.

    Makes at most two reads, however many citations there are: of the cited segments, and of the documents in which a
    quote is no longer at its old place. A document that is deleted, expired or not readable by the identity counts as
    deleted. The bodies stay as they are.
    """
    if not bodies:
        return []
    fingerprints, found = await reader.read_cited([cited_segments(body) for body in bodies], identity)
    segments = {segment.segment_id: segment for segment in found}
    around = Around(segments, segments)
    # An answer lists every citation twice.
    cited = [{_key(citation): citation for citation in _citations(body)} for body in bodies]
    every = {key: citation for citations in cited for key, citation in citations.items()}
    stale = {key: each["document_id"] for key, each in every.items() if not _is_unchanged(each, segments, around)}
    moving = [{stale[key] for key in citations if key in stale} for citations in cited]
    pages = await reader.read_pages(list(dict.fromkeys(stale.values())), identity) if stale else []
    texts = {page.document_id: CurrentText(page) for page in pages}

    def checked() -> list[Checked]:
        return [
            Checked(_with_freshness(body, documents, texts), None) if documents else Checked(body, fingerprint)
            for body, documents, fingerprint in zip(bodies, moving, fingerprints, strict=True)
        ]

    return await asyncio.to_thread(checked) if stale else checked()


_Key = tuple[object, ...]


def _key(citation: Citation) -> _Key:
    context = tuple((each["start"], each["text"]) for each in citation.get("context", ()))
    return citation["segment_id"], citation["start"], citation["end"], citation["quote"], context


def _with_freshness(body: dict[str, Any], moving: Collection[str], texts: Mapping[str, CurrentText]) -> dict[str, Any]:
    """Return an answer's body with the freshness of its citations, given the documents in which some are not fresh."""
    headings = {source["index"]: source["heading"] for source in body.get("sources", [])}
    quotes: dict[str, set[PlacedQuote]] = defaultdict(set)
    for citation in _citations(body):  # all quotes of a document, since the unmoved ones help to locate the others
        quotes[citation["document_id"]].add(_quoted(citation, headings))
    located = {
        document_id: texts[document_id].locate(sorted(quotes[document_id]))
        for document_id in moving
        if document_id in texts
    }

    def checked(citation: Citation) -> Citation:
        document_id = citation["document_id"]
        if document_id not in moving:
            return citation
        freshness, place = located.get(document_id, {}).get(_quoted(citation, headings), DELETED)
        context = citation.get("context", [])
        if place is not None and not texts[document_id].keeps(context, place["start"] - citation["start"], place):
            freshness, place = "changed", None
        result: Citation = {**citation, "freshness": freshness}
        if place is not None and (freshness == "moved" or place["segment_id"] != citation["segment_id"]):
            result["now"] = place
        return result

    updated = dict(body)
    if "citations" in body:
        updated["citations"] = [checked(citation) for citation in body["citations"]]
    if "claims" in body:
        updated["claims"] = [
            {**claim, "citations": [checked(citation) for citation in claim["citations"]]} for claim in body["claims"]
        ]
    return updated


def _citations(body: dict[str, Any]) -> Iterator[Citation]:
    """Yield every citation of an answer, including those in its claims."""
    yield from body.get("citations", [])
    for claim in body.get("claims", []):
        yield from claim["citations"]


def _quoted(citation: Citation, headings: Mapping[int, str]) -> PlacedQuote:
    bears = citation.get("highlight", citation)["start"] - citation["start"]
    return PlacedQuote(citation["start"], citation["quote"], headings.get(citation["source_index"], ""), bears)


def _is_unchanged(citation: Citation, segments: Mapping[str, Segment], around: Mapping[str, Segment]) -> bool:
    """Whether a quote stands where it stood: in its segment, or of a passage partly in that and else beside it."""
    own = segments.get(citation["segment_id"])
    if own is None or not own.start < citation["end"] or not citation["start"] < own.end:
        return False
    segment = around[citation["segment_id"]] if "highlight" in citation else own
    if not segment.start <= citation["start"] < citation["end"] <= segment.end:
        return False
    start, end = citation["start"] - segment.start, citation["end"] - segment.start
    if segment.text[start:end] != citation["quote"] or not is_whole(segment.text, start, end):
        return False
    return not citation.get("context") or _hangs_on_same(citation, segment)


def _hangs_on_same(citation: Citation, segment: Segment) -> bool:
    """Whether all that a quote hung on is where it was, as far as its segment tells."""
    today = {(each["start"], each["text"]) for each in context_of_quote(segment, citation["start"], citation["end"])}
    return all(
        (each["start"], each["text"]) in today
        or (
            segment.start <= each["start"] <= each["end"] <= segment.end
            and segment.text.startswith(each["text"], each["start"] - segment.start)
        )
        for each in citation["context"]
    )
