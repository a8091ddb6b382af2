"""What a document shows of itself: how it begins, and its headings or the lines of its contents, with their places."""

import re
from collections.abc import Iterator, Sequence

from typing_extensions import TypedDict

from answers.entries import entries_of
from answers.entry import Entry
from graph.evidence import Segment, SegmentBlock
from text.late_patterns import late_pattern
from text.normal_forms import fold_case

MOST_SENTENCES = 3
MOST_HEADINGS = 60
MOST_READ = 40  # segments that are read for the first sentences
SHORTEST, LONGEST = 30, 320  # characters of a sentence; half as many in scripts that write a word in one letter
_DENSE = late_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDS = re.compile(r"[.!。！…][\"”’)）」]?$")
_ADDRESS = re.compile(r"https?://|www\.")
_LEADERS = re.compile(r"(?:[.…_] ?){3}")  # before the page's number in a line of contents
_BULLETS = "-*•– \n"


class GuideSentence(TypedDict):
    """A sentence of a document, verbatim, with its place: ``canonical_text[start:end] == text``."""

    segment_id: str
    segment_index: int
    page_idx: int | None
    start: int
    end: int
    text: str


class GuideHeading(TypedDict):
    """A heading of a document or a line of its contents, verbatim, with its place; ``depth`` counts from 0."""

    segment_index: int
    page_idx: int | None
    start: int
    end: int
    text: str
    depth: int


def first_sentences(segments: Sequence[Segment]) -> list[GuideSentence]:
    """Return the first sentences of a document's text that make sense alone, at most three; no answer of a FAQ does."""
    found: dict[str, GuideSentence] = {}
    is_answer = False
    for segment in segments[:MOST_READ]:
        for entry in entries_of(segment):
            is_answer = entry.asks or (is_answer and entry.kind != "heading")
            if not is_answer and _is_self_contained(entry):
                sentence = GuideSentence(
                    segment_id=segment.segment_id,
                    segment_index=segment.segment_index,
                    page_idx=segment.page_idx,
                    start=entry.start,
                    end=entry.end,
                    text=entry.text,
                )
                found.setdefault(fold_case(entry.text), sentence)
            if len(found) == MOST_SENTENCES:
                return list(found.values())
    return list(found.values())


def _is_self_contained(entry: Entry) -> bool:
    if entry.kind != "paragraph" or entry.leads or not entry.quotable:
        return False
    if any(each.role in ("before", "lead", "label", "term") for each in entry.context):
        return False
    length = len(entry.text) + len(_DENSE.findall(entry.text))
    return SHORTEST <= length <= LONGEST and _ENDS.search(entry.text) is not None and not _ADDRESS.search(entry.text)


def guide_outline(segments: Sequence[Segment]) -> list[GuideHeading]:
    """Return the headings of a document, or the lines of its contents where it has no two headings; the first 60.

    A heading is as deep as the path of its segment says; the number of a page is no part of a line.
    """
    headings = _headings(segments)
    if len(headings) > 1:
        return headings
    lines = [_place(segment, block) for segment, block in _blocks(segments, "contents")]
    return lines[:MOST_HEADINGS] if len(lines) > 1 else headings


def _headings(segments: Sequence[Segment]) -> list[GuideHeading]:
    found: list[GuideHeading] = []
    for segment, block in _blocks(segments, "heading"):
        path = [fold_case(" ".join(each.split())) for each in segment.heading.split(" > ")]
        heading = _place(segment, block)
        folded = fold_case(" ".join(heading["text"].split()))
        heading["depth"] = path.index(folded) if folded in path else (found[-1]["depth"] if found else 0)
        found.append(heading)
        if len(found) == MOST_HEADINGS:
            break
    return found


def _blocks(segments: Sequence[Segment], kind: str) -> Iterator[tuple[Segment, SegmentBlock]]:
    for segment in segments:
        for block in segment.blocks:
            if block.kind == kind and segment.text[block.start - segment.start : block.end - segment.start].strip():
                yield segment, block


def _place(segment: Segment, block: SegmentBlock) -> GuideHeading:
    text = segment.text[block.start - segment.start : block.end - segment.start]
    told = text
    if block.kind == "contents":
        told = _LEADERS.split(text, maxsplit=1)[0].strip(_BULLETS) or text
    start = block.start + text.index(told)
    return GuideHeading(
        segment_index=segment.segment_index,
        page_idx=segment.page_idx,
        start=start,
        end=start + len(told),
        text=told,
        depth=0,
    )
