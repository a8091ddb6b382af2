"""Segments of the places that a question names, cut to them, and the rows that bring them among the candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import groupby

from answers.surroundings import with_next
from graph.evidence import Hit, Segment
from graph.rows import Places, SourceRow

NAMED_SCORE = 1.0


def place_rows(places: Places | None) -> list[SourceRow]:
    """Return the segments of places as candidates, in reading order; one with several of them holds what is between."""
    bounds: dict[str, list[int]] = {}
    for span in places["spans"] if places is not None else ():
        for index in range(span["first"], span["last"] + 1):
            segment_id = f"{span['document_id']}:{index}"
            start, end = bounds.get(segment_id, (span["start"], span["end"]))
            bounds[segment_id] = [min(start, span["start"]), max(end, span["end"])]
    return [
        SourceRow(index=0, segment_id=segment_id, kind="page", score=NAMED_SCORE, within=within)
        for segment_id, within in bounds.items()
    ]


def hit_of(row: SourceRow, segment: Segment, places: Places | None, around: Mapping[str, Segment] | None = None) -> Hit:
    """Return a candidate as graders and writers read it: no more of it than the place that the question names."""
    bounds, key = row.get("within"), row["segment_id"]
    if around is not None and bounds is not None and key in around:
        around = {key: within(around[key], bounds)}
    return Hit(
        within(segment, bounds),
        row["score"],
        row["kind"],
        around=around,
        copies=tuple(row.get("copies", ())),
        whole=bounds is not None and places is not None and places["whole"],
        turn=row.get("turn", 0),
    )


def around_in_places(
    rows: Sequence[SourceRow], segments: Mapping[str, Segment], around: Mapping[str, Segment]
) -> Mapping[str, Segment]:
    """Return what lies around segments, of those in named places as far as the places were kept and are on one page."""
    in_place = [row for row in rows if "within" in row and row["segment_id"] in segments]
    if not in_place:
        return around
    found = dict(around)

    def place(row: SourceRow) -> tuple[list[int], str, int | None]:
        segment = segments[row["segment_id"]]
        return row["within"], segment.document_id, segment.page_idx

    for _, group in groupby(in_place, key=place):
        own = [segments[row["segment_id"]] for row in group]
        wide = reduce(with_next, own)
        found.update({each.segment_id: wide for each in own if each.end <= wide.end})
    return found


def within(segment: Segment, bounds: Sequence[int] | None) -> Segment:
    """Return the part of a segment between two offsets of its document, which overlap it; all of it without any."""
    if bounds is None:
        return segment
    start, end = max(segment.start, bounds[0]), min(segment.end, bounds[1])
    if (start, end) == (segment.start, segment.end) or start >= end:
        return segment
    blocks = tuple(
        replace(each, start=max(each.start, start), end=min(each.end, end))
        for each in segment.blocks
        if each.start < end and start < each.end
    )
    above = [each.text for each in blocks[0].context if each.role == "heading"] if blocks else []
    if blocks and blocks[0].kind == "heading":
        above.append(segment.text[blocks[0].start - segment.start : blocks[0].end - segment.start])
    return replace(
        segment,
        start=start,
        end=end,
        text=segment.text[start - segment.start : end - segment.start],
        blocks=blocks,
        heading=" > ".join(above) or segment.heading,
        tokens=segment.tokens * (end - start) // (segment.end - segment.start),
    )
