"""One order of what several searches have found, the search in several wordings, and copies among the finds."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from answers.document_dates import MOST_TOLD, age_of
from answers.surroundings import beside as ids_beside
from graph.evidence import Hit, Segment
from graph.ports import SearchQuery, SearchResult, SegmentSearcher

NEIGHBOUR_DECAY = 0.9  # of the score of a hit, for each segment further from it
PLACES = 3  # among the hits, for each wording beside the first
AT_ONCE = 4  # searches of a run


async def search_wordings(
    searcher: SegmentSearcher, query: SearchQuery, wordings: Sequence[str]
) -> list[tuple[str, SearchResult]]:
    """Search for a query in each of its wordings, side by side, and return each with the hits that it found best.

    Each further wording adds ``PLACES`` to what one search finds. The wordings choose by turns: a few key words score
    higher than a question does, and by score alone they would leave no place to what the question's own words find.
    Raises DependencyFailed.
    """
    texts = list(dict.fromkeys(wordings))
    turns = asyncio.Semaphore(AT_ONCE)

    async def search(text: str) -> SearchResult:
        async with turns:
            return await searcher.search(replace(query, text=text))

    try:
        async with asyncio.TaskGroup() as group:
            searches = [group.create_task(search(text)) for text in texts]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    results = [each.result() for each in searches]
    if len(texts) == 1:
        return [(texts[0], results[0])]
    best: dict[str, tuple[float, str]] = {}
    for text, result in zip(texts, results, strict=True):
        for hit in result.hits:
            if hit.segment_id not in best or hit.score > best[hit.segment_id][0]:
                best[hit.segment_id] = (hit.score, text)
    joined = _by_turns([result.hits for result in results], query)
    return [
        (text, replace(result, hits=tuple(hit for hit in joined if best[hit.segment_id][1] == text)))
        for text, result in zip(texts, results, strict=True)
    ]


def _by_turns(found: Sequence[Sequence[Hit]], query: SearchQuery) -> list[Hit]:
    ranked = [sorted((hit for hit in hits if hit.own_score > 0), key=lambda hit: -hit.own_score) for hits in found]
    turns: dict[str, int] = {}
    for turn, row in enumerate(zip_longest(*ranked)):
        for hit in row:
            if hit is not None:
                turns.setdefault(hit.segment_id, turn)
    places = query.top_k + PLACES * (len(found) - 1)
    chosen = dict(list(turns.items())[:places])
    hits = [hit if hit.segment_id in chosen else replace(hit, own_score=0.0) for hits in found for hit in hits]
    joined = join_hits(hits, replace(query, top_k=places))
    beside = hits_beside(joined)
    return [replace(hit, turn=chosen.get(beside.get(hit.segment_id, hit.segment_id), places)) for hit in joined]


def join_hits(hits: Iterable[Hit], query: SearchQuery) -> list[Hit]:
    """Put the finds of several searches in one order: the ``top_k`` best of all, and the neighbours of those.

    Of several finds of one segment the best counts; of equal scores the first one comes first.
    """
    best: dict[str, Hit] = {}
    for each in hits:
        known = best.get(each.segment_id)
        if known is None or each.own_score > known.own_score:
            best[each.segment_id] = each
    top = [each for each in sorted(best.values(), key=lambda each: -each.own_score) if each.own_score > 0][
        : query.top_k
    ]
    kept = {each.segment_id for each in top}
    widened = [
        replace(each, score=score, own_score=each.own_score if each.segment_id in kept else 0.0)
        for each in best.values()
        if (score := _widened_score(each, top, query.expand)) >= max(query.min_score, 1e-9)
    ]
    return sorted(widened, key=lambda each: -each.score)


def _widened_score(each: Hit, top: Sequence[Hit], expand: int) -> float:
    segment = each.segment
    near = [
        found.own_score * NEIGHBOUR_DECAY ** abs(found.segment.segment_index - segment.segment_index)
        for found in top
        if found.segment.document_id == segment.document_id
        and abs(found.segment.segment_index - segment.segment_index) <= expand
    ]
    return max(near, default=0.0)


def hits_beside(hits: Sequence[Hit]) -> dict[str, str]:
    """Return the hit that each neighbour was added to, both by their segments' ids: the best of those next to it."""
    found = {hit.segment_id: hit.own_score for hit in hits if hit.own_score > 0}
    beside: dict[str, str] = {}
    for hit in hits:
        near = [each for each in ids_beside([hit.segment_id]) if each in found] if hit.segment_id not in found else []
        if near:
            beside[hit.segment_id] = max(near, key=lambda each: found[each])
    return beside


SHORTEST_COPY = 40  # characters; a shorter text is the same by chance, and means what stands around it
OPENING = 6  # words; texts that begin with others need not be compared


def repeated_texts(segments: Sequence[Segment], kept: Collection[str] = (), *, question: str = "") -> dict[str, str]:
    """Return the ids of segments whose text another document has, but for white space, and who stands for each.

    That is the newest document, unless a question names the number of an older one ("Handbook 2024"). Copies come the
    newest first. A short text is a copy only where the whole documents are. ``kept`` are ids that are never returned.
    """
    openings = [tuple(segment.text.split(maxsplit=OPENING)[:OPENING]) for segment in segments]
    alike = Counter(openings)
    copies: dict[tuple[str, int], list[Segment]] = {}
    for segment, opening in zip(segments, openings, strict=True):
        if alike[opening] == 1:
            continue
        text = " ".join(segment.text.split())
        same = (text, 0) if len(text) >= SHORTEST_COPY else (segment.content_hash, segment.segment_index)
        if same[0]:
            copies.setdefault(same, []).append(segment)
    repeated: dict[str, str] = {}
    for group in copies.values():
        newest = sorted(group, key=lambda each: age_of(each, question), reverse=True)
        first = next((each for each in group if each.segment_id in kept), newest[0])
        for each in newest:
            if each.document_id != first.document_id and each.segment_id not in kept:
                repeated[each.segment_id] = first.segment_id
    return repeated


def without_copies(hits: Sequence[Hit], repeated: Mapping[str, str]) -> list[Hit]:
    """Return hits without those whose text is ``repeated``; what stands for them has their ids and best score."""
    scores = {hit.segment_id: hit.own_score for hit in hits}
    copies: dict[str, list[str]] = {}
    for segment_id, first in repeated.items():
        copies.setdefault(first, []).append(segment_id)
    return [
        replace(
            hit,
            own_score=max(scores[each] for each in (hit.segment_id, *copies[hit.segment_id])),
            copies=tuple(copies[hit.segment_id][:MOST_TOLD]),
        )
        if hit.segment_id in copies
        else hit
        for hit in hits
        if hit.segment_id not in repeated
    ]
