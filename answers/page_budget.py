"""Fair sharing of a token budget among selected pages, so that a long page does not starve the others."""

from collections.abc import Sequence
from itertools import zip_longest

from graph.evidence import Segment


def total_tokens(segments: Sequence[Segment]) -> int:
    """Return the tokens of all segments."""
    return sum(segment.tokens for segment in segments)


def fits_whole(sizes: Sequence[int], room: int) -> list[bool]:
    """Return whether each page is read whole, given the page sizes and the room in tokens.

    By max-min fairness: the smallest pages are served first, and a page fits if it takes no more than an equal share of
    what the smaller ones leave. The order of selection does not matter.
    """
    whole = [False] * len(sizes)
    waiting = sorted(range(len(sizes)), key=lambda page: sizes[page])
    for served, page in enumerate(waiting):
        if sizes[page] > room // (len(sizes) - served):
            break
        whole[page] = True
        room -= sizes[page]
    return whole


def best_fitting(ranked: Sequence[Sequence[Segment]], room: int) -> list[list[Segment]]:
    """Return the segments of each page, best first, that fit its equal share of ``room`` tokens, then what is left."""
    taken: list[list[Segment]] = [[] for _ in ranked]
    if not ranked:
        return taken
    share = room // len(ranked)
    for page, segments in enumerate(ranked):
        left = share
        for segment in segments:
            if segment.tokens <= left:
                taken[page].append(segment)
                left -= segment.tokens
    room -= sum(map(total_tokens, taken))
    chosen = [{segment.segment_id for segment in segments} for segments in taken]
    for row in zip_longest(*ranked):
        for page, segment in enumerate(row):
            if segment is not None and segment.segment_id not in chosen[page] and segment.tokens <= room:
                taken[page].append(segment)
                room -= segment.tokens
    return taken
