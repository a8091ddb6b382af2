"""Cut canonical text into segments that partition it exactly."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SegmentSpan:
    """A segment before it is stored: where it lies in the canonical text, and what is known of its place."""

    segment_index: int
    start: int
    end: int
    page_idx: int | None
    heading: str
    tokens: int
