"""Citation marks in the text of an answer, and the offsets of claims in the marked text."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

from answers.links import JOINER
from answers.marks import mark_of, marked_citations
from answers.quoted_runs import continues
from api.dialects.section_buffer import FinalSection, final_sections
from graph.evidence import Claim, Message, Source
from text.inline_spans import READS_AS_A_MARK
from text.mark_places import code_spans, follows_address, follows_fence, mark_place

Mark = Callable[[int], str]
BETWEEN_SECTIONS = "\n\n"
_READ_WITH_A_MARK = ("(", "[", ":")  # a link, a reference and a footnote's text


def footnote(index: int) -> str:
    """Return ``[^n]``, a Markdown footnote mark."""
    return f"[^{index}]"


def reference(index: int) -> str:
    """Return ``[ref:n]``."""
    return f"[ref:{index}]"


def bracket(index: int) -> str:
    """Return ``[n]``."""
    return f"[{index}]"


def by_position(mark: Mark, sources: Sequence[Source]) -> Mark:
    """Return a mark that numbers sources by their 1-based position in a list, for clients that have only the list.

    The position is the index of the source unless the list has lost one, for example because its document was deleted.
    The mark of a source that is not in the list is empty.
    """
    places = {source["index"]: place for place, source in enumerate(sources, start=1)}
    return lambda index: mark(places[index]) if index in places else ""


def marked_pieces(section: FinalSection, mark: Mark) -> list[str]:
    """Return a part of a section in pieces, each a claim followed by its marks, if it carries any.

    Joined, the pieces are the marked part, and the parts of a section joined are the marked section; no mark is split.
    Every section except the first begins with the blank line that separates it from the one before.
    """
    return MarkedSection(section, mark).pieces


class MarkedSection:
    """A part of a section with marks where they break no Markdown, and the way from its offsets to those with marks.

    A mark stands behind its claim: in a table in the last cell, behind quoted code in a line of its own, never in code,
    a link or a tag. Claims that share a quote have one mark, behind the last of them. Whatever would be read
    together with a mark is kept apart by a JOINER: a parenthesis, colon or bracket behind it, a bracket before it, "!"
    before a link; an address before it by a space. So is what only reads as a mark, such as ``[3]`` or
    ``【3】`` in a quote, unless it is code, which stays byte for byte.
    """

    def __init__(self, section: FinalSection, mark: Mark) -> None:
        self._section = section
        self._mark = mark
        self._added: list[tuple[int, str]] = []  # by offset in the section's text
        cuts = self._add_marks()
        if READS_AS_A_MARK.search(section.text):
            self._disarm({offset for offset, _ in self._added})
        self._added.sort(key=lambda each: each[0])
        before = BETWEEN_SECTIONS if section.position and not section.start else ""
        self._offsets = [offset for offset, _ in self._added]
        self._lengths = [len(before) - section.start, *(len(text) for _, text in self._added)]
        self._shifts = list(accumulate(self._lengths))
        edges = [section.start, *cuts, len(section.text)]
        written = [self._written(start, end, at == 0) for at, (start, end) in enumerate(pairwise(edges))]
        self.pieces = _joined([before, *written]) if section.start < len(section.text) or self._added else []

    def start_of(self, offset: int) -> int:
        """Return the position in the marked part of text that starts at an offset, after any marks there."""
        return offset + self._shifts[bisect_right(self._offsets, offset)]

    def end_of(self, offset: int) -> int:
        """Return the position in the marked part of text that ends at an offset, before any marks there."""
        return offset + self._shifts[bisect_left(self._offsets, offset)]

    def _written(self, start: int, end: int, is_first: bool) -> str:
        """Return part of the text with what was added to it; additions at an edge belong to the piece before."""
        text = self._section.text
        find = bisect_left if is_first else bisect_right
        parts: list[str] = []
        for offset, added in self._added[find(self._offsets, start) : bisect_right(self._offsets, end)]:
            parts += [text[start:offset], added]
            start = offset
        return "".join([*parts, text[start:end]])

    def _add_marks(self) -> list[int]:
        """Add the marks of the new claims, and return where the pieces end."""
        section = self._section
        marks: dict[int, list[int]] = {}
        start = section.start
        for claim in section.marked_claims:
            place = mark_place(section.text, claim["end"], start)
            if place is not None:
                marks.setdefault(place, []).extend(sorted({each["source_index"] for each in marked_citations(claim)}))
                start = place
        for claim in section.claims:
            if section.owes_marks or claim["end"] != section.start:
                continue
            if self._marks_of(each["source_index"] for each in marked_citations(claim)):
                self._part(section.start)
                break
        for place, indices in marks.items():
            if written := self._marks_of(indices):
                behind = _behind_fence(section.text, place)
                self._added.append((place, _separator(section.text, place, written) + written + behind))
                self._part(place)
        return list(marks)

    def _marks_of(self, indices: Iterable[int]) -> str:
        return "".join(map(self._mark, indices))

    def _part(self, place: int) -> None:
        """Keep text behind marks from being read together with them."""
        if self._section.text[place : place + 1] in _READ_WITH_A_MARK:
            self._added.append((place, JOINER))

    def _disarm(self, marked: Set[int]) -> None:
        """Keep what looks like a mark from being one, also at the beginning of a footnote."""
        section = self._section
        ends_in_claim = any(claim["end"] == len(section.text) for claim in section.claims)
        code = code_spans(section.text, section.start, ends_in_claim=ends_in_claim)
        disarmed: list[tuple[int, str]] = []
        for found in READS_AS_A_MARK.finditer(section.text):
            if found.end() <= section.start or _is_within(code, found.start()):
                continue
            disarmed.append((max(section.start, found.end("open")), JOINER))
            if section.text.startswith(":", found.end()) and found.end() not in marked:
                disarmed.append((found.end(), JOINER))
        self._added = disarmed + self._added


def _separator(text: str, place: int, marks: str) -> str:
    """Return what keeps marks from being read together with the text before them."""
    if follows_fence(text, place):
        return "\n"
    before = text[place - 1 : place]
    if before == "]" or (before == "!" and marks.endswith(")")):  # a reference, or an image
        return JOINER
    return " " if follows_address(text, place) else ""


def _behind_fence(text: str, place: int) -> str:
    """Return what keeps marks below a block of code from being read together with the line that follows them."""
    if not follows_fence(text, place):
        return ""
    end = text.find("\n", place + 1)
    return "\n" if text[place + 1 : end if end >= 0 else len(text)].strip() else ""


def _is_within(spans: Sequence[tuple[int, int]], offset: int) -> bool:
    at = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    return at >= 0 and offset < spans[at][1]


def _joined(pieces: list[str]) -> list[str]:
    """Merge blank pieces into the next piece, and at the end what has no words, such as the bar that closes a row."""
    merged: list[str] = []
    space = ""
    for piece in pieces:
        if piece.strip():
            merged.append(space + piece)
            space = ""
        else:
            space += piece
    if not merged:
        return [space] if space else []
    merged[-1] += space
    if len(merged) > 1 and not any(map(str.isalnum, merged[-1])):
        merged[-2:] = ["".join(merged[-2:])]
    return merged


def marked_text(message: Message, mark: Mark) -> str:
    """Return a finished message's answer with its marks, as its stream sent it."""
    return "".join(piece for section in final_sections(message) for piece in marked_pieces(section, mark))


def utf16(text: str, offset: int) -> int:
    """Convert an offset in code points to UTF-16 units, as JavaScript counts."""
    return len(text[:offset].encode("utf-16-le")) // 2


@dataclass(frozen=True, slots=True)
class PlacedClaim:
    """A claim with its span in the marked answer, in UTF-16 units as JavaScript counts; its own marks are outside."""

    claim: Claim
    start: int
    end: int


def placed_claims(sections: Iterable[FinalSection], mark: Mark) -> Iterator[PlacedClaim]:
    """Yield each claim of the sections with its span in their joined marked text."""
    before = 0
    for section in sections:
        placed = MarkedSection(section, mark)
        marked = "".join(placed.pieces)
        for claim in section.new_claims:
            start, end = placed.start_of(claim["start"]), placed.end_of(claim["end"])
            yield PlacedClaim(claim, before + utf16(marked, start), before + utf16(marked, end))
        before += utf16(marked, len(marked))


def joined_claims(placed: Iterable[PlacedClaim]) -> list[PlacedClaim]:
    """Return claims with those that share a quote as one, which has the quote and the span of all of them."""
    joined: list[PlacedClaim] = []
    for each in placed:
        if joined and continues(joined[-1].claim, each.claim):
            joined[-1] = replace(each, start=joined[-1].start)
        else:
            joined.append(each)
    return joined


def with_latest_verdicts(placed: Iterable[PlacedClaim], latest: Callable[[Claim], Claim]) -> list[PlacedClaim]:
    """Return claims as they were sent, with the verdicts that they have now."""
    return [replace(each, claim=latest(each.claim)) for each in placed]


def claim_record(placed: PlacedClaim) -> dict[str, Any]:
    """Return a claim as formats with room for claims tell it: its span, its verdict, who gave that, and its mark.

    One without a mark has its ``citations`` here, since the list of citations has only those that marks stand for.
    """
    claim, mark = placed.claim, mark_of(placed.claim)
    record: dict[str, Any] = {
        "start_index": placed.start,
        "end_index": placed.end,
        "text": claim["text"],
        "verdict": claim["verdict"],
        "reasons": claim["reasons"],
        "mark": mark,
    }
    if "by" in claim:
        record["by"] = claim["by"]
    if "judge" in claim:
        record["judge"] = claim["judge"]
    if mark != "shown" and claim["citations"]:
        record["citations"] = claim["citations"]
    return record
