"""The context that a model reads: segments under their title, heading path and page, each tagged with its id."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.evidence import Segment
from tools.llm.neutral import neutralise, one_line
from tools.llm.tokens import cut_to_tokens, estimate_tokens


@dataclass(frozen=True, slots=True)
class SegmentContext:
    """Context as text, and the ids that it offers, in the order of the segments given."""

    text: str
    segment_ids: tuple[str, ...]


def place(segment: Segment) -> str:
    """Say where a segment stands, in one neutralised line."""
    parts = [one_line(segment.title), *(one_line(h) for h in segment.heading.split(" > "))]
    path = " > ".join(dict.fromkeys(part for part in parts if part))
    page = "" if segment.page_idx is None else f"page {segment.page_idx + 1}"
    return ", ".join(part for part in (path, page) if part) or "Untitled"


def segment_context(segments: Sequence[Segment], *, max_tokens: int) -> SegmentContext:
    """Lay out segments for a model within ``max_tokens`` (estimated).

    Segments are taken whole in the order given, best first, up to the first that no longer fits; the first is cut at
    a word if it alone is too long. They are shown by document, in reading order.
    """
    taken: dict[str, tuple[Segment, str]] = {}
    left = max_tokens
    for segment in segments:
        if segment.segment_id in taken:
            continue
        heading = estimate_tokens(place(segment)) + 4
        text = neutralise(segment.text).strip()
        tokens = heading + estimate_tokens(_line(segment, text))
        if tokens > left:
            if taken:
                break
            text = cut_to_tokens(text, max(1, left - heading - estimate_tokens(_line(segment, ""))))
        taken[segment.segment_id] = (segment, text)
        left -= tokens
    return SegmentContext(_layout(list(taken.values())), tuple(taken))


def _layout(taken: list[tuple[Segment, str]]) -> str:
    documents = list(dict.fromkeys(segment.document_id for segment, _ in taken))
    in_order = sorted(taken, key=lambda row: (documents.index(row[0].document_id), row[0].segment_index))
    lines: list[str] = []
    above: tuple[str, str] | None = None
    for segment, text in in_order:
        here = (segment.document_id, place(segment))
        if here != above:
            lines.append(f"\n# {here[1]}")
            above = here
        lines.append(_line(segment, text))
    return "\n".join(lines).strip()


def _line(segment: Segment, text: str) -> str:
    return f"[SEG={segment.segment_id}] {text}"
