"""Fair shares of a token budget among selected pages, so that a long page does not starve the others."""

from collections.abc import Sequence
from itertools import zip_longest

from graph.evidence import Segment


def total_tokens(segments: Sequence[Segment]) -> int:
    """Add up what segments cost."""
    return sum(segment.tokens for segment in segments)


def fits_whole(sizes: Sequence[int], room: int) -> list[bool]:
    """Return which of some pages are read whole, given their sizes in tokens.

    By max-min fairness: the smallest are served first, and a page fits where it takes no more than an equal share of
    what the smaller ones have left. Which page was selected first does not matter.
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
    """Take of each page's segments, best first, what fits; each page has an equal share of ``room`` tokens.

    What the shares leave, being too small for the next segment, goes to the best of what is left, page by page.
    """
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
