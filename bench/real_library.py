"""A library of real passages, all public data sets of a folder together, and the questions that are asked of it."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from evals.cases import DataSet
from evals.dataset_store import StoredDataSet, document_ids, ingest
from evals.sets.clapnq import clapnq_open_set
from evals.sets.financebench import financebench_set
from evals.sets.hotpotqa import hotpotqa_set
from evals.sets.manuals import manuals_set
from evals.sets.rgb import rgb_set
from evals.sets.wice import wice_set
from evals.sets.xquad import xquad_set
from graph.evidence import Identity
from text.terms import split_words
from text.words import is_indexed_by_bigrams
from tools.process.library import Library

DATA = "CITEWELL_BENCH_DATA"  # in the environment: a folder with one of each of these below it
SETS: dict[str, Callable[[Path], DataSet]] = {
    "xquad": xquad_set,
    "manuals": manuals_set,
    "hotpotqa": hotpotqa_set,
    "clapnq": clapnq_open_set,
    "wice": wice_set,
    "rgb": rgb_set,
    "financebench": financebench_set,
}
NAMES = {"xquad": "XQuAD", "hotpotqa": "HotpotQA", "clapnq": "CLAPnq", "rgb": "RGB", "wice": "WiCE"}
SEED = 5
MOST = 100  # questions of a set and language
MADE = 60  # questions of each number of common words
MOST_HOLDING = 0.5  # of the segments that hold a common word


async def ingest_all(library: Library, identity: Identity, place: Path) -> dict[str, list[str]]:
    """Ingest the documents of all sets into one workspace, and return questions by set and language."""
    asked: dict[str, list[str]] = {}
    for folder, load in SETS.items():
        data = load(place / folder)
        stored = StoredDataSet(data, document_ids(data))
        await ingest(library, identity, stored.to_store(stored.ids))
        for case in data.cases:
            name = f"{NAMES.get(folder, folder)} {case.tags.get('language', '')}".strip()
            asked.setdefault(name, []).append(case.question)
    return {name: _spread(questions) for name, questions in asked.items()}


def _spread(questions: Sequence[str]) -> list[str]:
    count = min(len(questions), MOST)
    return [questions[place * len(questions) // count] for place in range(count)]


def made_questions(bodies: Sequence[str], budget: int) -> dict[str, list[str]]:
    """Return questions of two, three and four words that are each in more than ``budget`` of the segments."""
    holding: Counter[str] = Counter()
    for body in bodies:
        holding.update({word for written in split_words(body) for word in _looked_up(written)})
    common = sorted(word for word, count in holding.items() if budget < count < MOST_HOLDING * len(bodies))
    random = Random(SEED)
    names = {2: "two", 3: "three", 4: "four"}
    return {
        f"{name} common words": [" ".join(random.sample(common, count)) for _ in range(MADE)]
        for count, name in names.items()
    }


def _looked_up(word: str) -> list[str]:
    if not is_indexed_by_bigrams(word):
        return [word]
    return [first + second for first, second in pairwise(word)]
