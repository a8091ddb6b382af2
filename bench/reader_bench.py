"""Benchmark of the extractive reader: CPU of choosing what to quote from ten segments, for a question never asked."""

import gc
import time
from collections.abc import Sequence
from pathlib import Path

from bench.corpus import Corpus
from bench.figures import Figure, figure, percentile
from bench.manual_pages import Sentences, html_page, markdown_page
from graph.evidence import Hit, Segment
from tools.embeddings.embedder import count_tokens
from tools.extractive.quoted_passages import select_quotes
from tools.extractive.reader import ReaderMemo, fitted_weights, rank_by_part
from tools.parsers import parse
from tools.retrieval.segmenting import SegmentSize, segment

SEED = 16
SEGMENTS = 10
QUESTIONS = 60
WARMING = 10
NEW_OBJECTS = 10_000  # between two collections, as the server sets it
MOST_MS = 8


async def run(folder: Path) -> list[Figure]:
    """Read new segments for new questions, then the same ones for other questions; nothing is stored."""
    corpus, pages = Corpus(SEED), _segments(Sentences(SEED), (QUESTIONS + WARMING) * SEGMENTS)
    fitted_weights()
    hits = [
        [Hit(each, 0.9 - place / 20) for place, each in enumerate(pages[start : start + SEGMENTS])]
        for start in range(0, len(pages), SEGMENTS)
    ]
    asked = [corpus.question(row[0].segment.text) for row in hits]
    for question, row in zip(asked[:WARMING], hits[:WARMING], strict=True):
        _read(question, row)
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    new, other = [], []
    for question, again, row in zip(asked[WARMING:], reversed(asked[WARMING:]), hits[WARMING:], strict=True):
        new.append(_read(question, row))
        other.append(_read(again, row))
    return [
        figure("a new question over ten new segments, CPU p50", percentile(new, 0.5), "ms", at_most=MOST_MS),
        figure("the same, p95", percentile(new, 0.95), "ms"),
        figure("a new question over segments read before, CPU p50", percentile(other, 0.5), "ms", at_most=MOST_MS),
        figure("the same, p95", percentile(other, 0.95), "ms"),
    ]


def _segments(from_: Sentences, count: int) -> list[Segment]:
    """Return segments of many pages, in an order in which those of one page are far apart."""
    found: list[list[Segment]] = []
    while sum(map(len, found)) < count:
        for suffix, page in ((".md", markdown_page), (".html", html_page)):
            parsed = parse(page(from_).encode(), name=f"page{suffix}", media_type=None)
            found.append(
                [
                    Segment(
                        f"page-{len(found)}", cut.segment_index, cut.start, cut.end, parsed.text[cut.start : cut.end],
                        title=parsed.title or "", heading=cut.heading, blocks=cut.blocks,
                    )
                    for cut in segment(parsed, SegmentSize(300), count_tokens)
                ]
            )  # fmt: skip
    longest = max(map(len, found))
    return [row[place] for place in range(longest) for row in found if place < len(row)][:count]


def _read(question: str, hits: Sequence[Hit]) -> float:
    """Grade and choose quotes as a run does; return the CPU in milliseconds."""
    began = time.process_time()
    memo = ReaderMemo()
    readings = rank_by_part(question, hits, memo)
    select_quotes(readings, hits)
    return (time.process_time() - began) * 1000
