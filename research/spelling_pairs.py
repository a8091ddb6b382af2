"""Whether a question finds a text that spells the same otherwise: dates, versions, joined words, typos, scripts.

Each pair is a question and three documents, the first of which answers; the others say the like of something else. All
documents are one library, so each question has every other pair's documents around it too.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.dataset_store import ingest_texts, throwaway_workspace
from evals.pacing import Progress
from graph.ports import SearchQuery
from tools.process.library import Library

PAIRS = Path(__file__).parent / "data" / "spellings.jsonl"
UNSEEN = PAIRS.with_name("unseen_spellings.jsonl")  # written before the code that it measures, and never fitted on


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, and documents as (title, text) of which the first answers it."""

    kind: str
    question: str
    documents: Sequence[tuple[str, str]]


def load_pairs(path: Path = PAIRS) -> list[Pair]:
    """Load the pairs of a JSON lines file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Pair(row["kind"], row["question"], [(title, text) for title, text in row["documents"]]) for row in rows]


async def rank_pairs(library: Library, pairs: Sequence[Pair], progress: Progress | None = None) -> list[int]:
    """Return the place at which each pair's document is found, from 1 on; 0 where it is not among ten."""
    texts = [document for pair in pairs for document in pair.documents]
    places = []
    async with throwaway_workspace(library, "spellings") as identity:
        ids = await ingest_texts(library, identity, [text for _, text in texts], [title for title, _ in texts])
        first = 0
        for done, pair in enumerate(pairs, start=1):
            found = await library.searcher.search(SearchQuery(pair.question, identity, expand=0))
            ranked = list(dict.fromkeys(hit.segment.document_id for hit in found.hits))
            places.append(ranked.index(ids[first]) + 1 if ids[first] in ranked else 0)
            first += len(pair.documents)
            if progress is not None:
                progress(done, len(pairs))
    return places


def tabulate(pairs: Sequence[Pair], places: Sequence[int]) -> dict[str, Any]:
    """Count by kind how many are found first and among three, and list the questions that are not found first."""
    kinds: dict[str, list[int]] = {}
    for pair, place in zip(pairs, places, strict=True):
        kinds.setdefault(pair.kind, []).append(place)
    return {
        **{kind: _figures(found) for kind, found in {**kinds, "all": list(places)}.items()},
        "missed": [f"{place} {pair.question}" for pair, place in zip(pairs, places, strict=True) if place != 1],
    }


def _figures(places: Sequence[int]) -> dict[str, int]:
    return {
        "pairs": len(places),
        "first": sum(place == 1 for place in places),
        "among three": sum(1 <= place <= 3 for place in places),
    }
