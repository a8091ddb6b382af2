"""What a document is about, in its own words: a few of its sentences with their places, and its headings."""

import re
from collections.abc import Sequence

from typing_extensions import TypedDict

from answers.entries import entries_of
from answers.entry import Entry
from graph.evidence import Segment
from text.late_patterns import LatePattern
from text.normal_forms import fold_case
from tools.extractive.similarity import measure_similarity

MOST_SENTENCES = 3
MOST_HEADINGS = 60
MOST_READ = 40  # segments whose sentences are compared
SHORTEST, LONGEST = 30, 320  # characters of a sentence; half as many in scripts that write a word in one letter
_DENSE = LatePattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDS = re.compile(r"[.!。！…][\"”’)）」]?$")
_ADDRESS = re.compile(r"https?://|www\.")


class GuideSentence(TypedDict):
    """A sentence of a document, verbatim, with its place: ``canonical_text[start:end] == text``."""

    segment_id: str
    segment_index: int
    page_idx: int | None
    start: int
    end: int
    text: str


class GuideHeading(TypedDict):
    """A heading of a document, verbatim, with its place; ``depth`` counts from 0."""

    segment_index: int
    page_idx: int | None
    start: int
    end: int
    text: str
    depth: int


def guide_sentences(title: str, segments: Sequence[Segment]) -> list[GuideSentence]:
    """Return the sentence that a document begins with, and two more, in their order.

    These are the nearest to its title and headings: of those that open a section, if there are enough.
    """
    found: list[tuple[Segment, Entry]] = []
    opening: list[int] = []  # places in ``found``
    seen: set[str] = set()
    opened: set[int] = set()  # where the headings stand whose first sentence was found
    for segment in segments[:MOST_READ]:
        for entry in entries_of(segment):
            folded = fold_case(entry.text)
            if _is_self_contained(entry) and folded not in seen:
                heading = next((each.start for each in reversed(entry.context) if each.role == "heading"), -1)
                if found and heading not in opened:
                    opening.append(len(found))
                opened.add(heading)
                seen.add(folded)
                found.append((segment, entry))
    if not found:
        return []
    subject = " ".join([title, *(each["text"] for each in guide_outline(segments))])[:1000]
    alike = measure_similarity(subject, [entry.text for _, entry in found]).sentences
    among = opening if len(opening) >= MOST_SENTENCES - 1 else range(1, len(found))
    others = sorted(among, key=lambda at: (-float(alike[at]), at))[: MOST_SENTENCES - 1]
    return [_sentence(*found[at]) for at in sorted([0, *others])]


def _is_self_contained(entry: Entry) -> bool:
    """Whether a sentence says something without those around it."""
    if entry.kind != "paragraph" or entry.leads or not entry.quotable:
        return False
    if any(each.role in ("before", "lead", "label", "term") for each in entry.context):
        return False
    length = len(entry.text) + len(_DENSE.findall(entry.text))
    return SHORTEST <= length <= LONGEST and _ENDS.search(entry.text) is not None and not _ADDRESS.search(entry.text)


def _sentence(segment: Segment, entry: Entry) -> GuideSentence:
    return GuideSentence(
        segment_id=segment.segment_id,
        segment_index=segment.segment_index,
        page_idx=segment.page_idx,
        start=entry.start,
        end=entry.end,
        text=entry.text,
    )


def guide_outline(segments: Sequence[Segment]) -> list[GuideHeading]:
    """Return the headings of a document, at most the first 60, each as deep as the path of its segment says."""
    found: list[GuideHeading] = []
    for segment in segments:
        path = [fold_case(" ".join(each.split())) for each in segment.heading.split(" > ")]
        for block in segment.blocks:
            text = segment.text[block.start - segment.start : block.end - segment.start]
            if block.kind != "heading" or not text.strip():
                continue
            folded = fold_case(" ".join(text.split()))
            depth = path.index(folded) if folded in path else (found[-1]["depth"] if found else 0)
            found.append(
                GuideHeading(
                    segment_index=segment.segment_index,
                    page_idx=segment.page_idx,
                    start=block.start,
                    end=block.end,
                    text=text,
                    depth=depth,
                )
            )
            if len(found) == MOST_HEADINGS:
                return found
    return found
