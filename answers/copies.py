"""Copies of a text: a file or a passage that was ingested twice is one source."""

from collections import Counter
from collections.abc import Collection, Sequence

from graph.evidence import Segment

SHORTEST_COPY = 40  # characters; a shorter text is the same by chance, and means what stands around it
OPENING = 6  # words; texts that begin with others need not be compared


def repeated_texts(segments: Sequence[Segment], kept: Collection[str] = ()) -> set[str]:
    """Return the ids of segments whose text an earlier segment of another document has, but for white space.

    A short one is a copy only where the whole documents are. ``kept`` are ids that are never returned.
    """
    openings = [tuple(segment.text.split(maxsplit=OPENING)[:OPENING]) for segment in segments]
    alike = Counter(openings)
    first: dict[tuple[str, int], str] = {}
    repeated: set[str] = set()
    for segment, opening in zip(segments, openings, strict=True):
        if alike[opening] == 1:
            continue
        text = " ".join(segment.text.split())
        same = (text, 0) if len(text) >= SHORTEST_COPY else (segment.content_hash, segment.segment_index)
        if not same[0]:
            continue
        known = first.setdefault(same, segment.document_id)
        if known != segment.document_id and segment.segment_id not in kept:
            repeated.add(segment.segment_id)
    return repeated
