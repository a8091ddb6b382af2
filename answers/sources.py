"""Ranking of gathered segments, and the client's view of a kept one: location, score and excerpt."""

from graph.evidence import Segment, Source
from graph.state import SourceRow

EXCERPT_CHARACTERS = 500
NEAREST_SHOWN = 3


def excerpt(text: str, limit: int = EXCERPT_CHARACTERS) -> str:
    """Cut text to at most ``limit`` characters, at a space where possible, and end it in "..." if cut."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    room = limit - 3
    space = flat.rfind(" ", room // 2, room + 1)
    return flat[: space if space > 0 else room].rstrip() + "..."


def describe_source(row: SourceRow, segment: Segment) -> Source:
    """Return a kept segment as clients see it."""
    return Source(
        index=row["index"],
        segment_id=segment.segment_id,
        document_id=segment.document_id,
        segment_index=segment.segment_index,
        page_idx=segment.page_idx,
        title=segment.title,
        heading=segment.heading,
        kind=row["kind"],
        source_type=segment.source_type,
        slug=segment.slug,
        space=segment.space,
        url=segment.url,
        score=round(row["score"], 4),
        excerpt=excerpt(segment.text),
        start=segment.start,
        end=segment.end,
        metadata=segment.metadata,
    )


def rank_candidates(candidates: list[SourceRow]) -> dict[str, SourceRow]:
    """Return each segment's strongest candidate, strongest first; selected pages come before the rest."""
    ranked = sorted(candidates, key=lambda row: (row["kind"] != "page", -row["score"]))
    first: dict[str, SourceRow] = {}
    for row in ranked:
        first.setdefault(row["segment_id"], row)
    return first


def nearest_sources(candidates: list[SourceRow]) -> list[SourceRow]:
    """Return the few nearest candidates, which a refusal names, each segment once."""
    return list(rank_candidates(candidates).values())[:NEAREST_SHOWN]
