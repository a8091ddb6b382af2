"""How a sentence answers in its place: with its title, its heading and its table's header row read along.

What the title says of the question need not be said again, so that a sentence is measured by what it adds; and a
sentence under the title of another thing than the question names is none of its answers, whatever it says.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graph.evidence import Segment
from tools.extractive.arrays import Bools, Floats, cover, cover_beyond, idf, presence
from tools.extractive.asked_quantities import asked_quantity, quantities_in
from tools.extractive.candidates import Candidate, Shape
from tools.extractive.likeness import likeness
from tools.extractive.question_names import names_in, numbers_in, share_missing
from tools.extractive.surroundings import Places, places
from tools.extractive.wording import QuestionWording, flattened, worded

PLACED = (
    "heading_line",  # is a heading
    "row",  # is a row of a table, below its header row
    "terms_beyond_title",  # share of the weight of the terms which the title lacks
    "terms_in_place",  # share of all terms, surroundings read along
    "heading_beyond_title",  # middle grams, which the title lacks, in the heading and in the header row
    "header_beyond_title",
    "title_repeated",  # share of the title's middle grams of the question that the sentence says again
    "title",  # middle gram cover by the title
    "numbers_missing",  # share of the question's numbers that stand neither in the sentence nor around it
    "names_missing",  # share of the question's names that nothing read of the document holds
    "likeness",  # by static embeddings, of the sentence and of it in its place
    "likeness_in_place",
    "quantity",  # holds the quantity asked for, the more the fewer others do, and how near to words of the question
    "quantity_near",
)
_NEAR = 40.0  # characters over which nearness falls to a third


@dataclass(frozen=True, slots=True)
class Held:
    """Which candidate holds which of the question's terms and of its middle grams: (units, candidates)."""

    terms: Bools
    middle: Bools


def placed_features(
    question: str, asked: QuestionWording, segments: Sequence[Segment], pool: Sequence[Candidate], held: Held
) -> dict[str, Floats]:
    """Compute the columns of PLACED."""
    standing = places(segments, pool)
    return {
        "heading_line": _shaped(pool, "heading"),
        "row": _shaped(pool, "row") * np.array([bool(place.header) for place in standing.around])[standing.of],
        **_words(asked, held, standing),
        "numbers_missing": _numbers_missing(question, pool, standing),
        "names_missing": _names_missing(question, segments, pool),
        **_likeness(question, pool, standing),
        **_quantities(question, asked, pool),
    }


def _shaped(pool: Sequence[Candidate], shape: Shape) -> Floats:
    return np.array([candidate.shape == shape for candidate in pool], dtype=np.float64)


def _words(asked: QuestionWording, held: Held, standing: Places) -> Mapping[str, Floats]:
    """Compare the question's words with what stands around each sentence, and with what the sentence adds to it."""

    def around(units: Sequence[str], texts: Sequence[str] | Sequence[frozenset[str]]) -> Bools:
        return presence(units, texts)[:, standing.of]

    terms, middle = asked.terms, asked.grams[1]
    title_terms = around(terms, [worded(place.title).vocabulary for place in standing.around])
    surrounding_terms = around(terms, [worded(place.text).vocabulary for place in standing.around])
    titles = around(middle, [worded(place.title).flat for place in standing.around])
    headings = around(middle, [worded(place.heading).flat for place in standing.around])
    headers = around(middle, [worded(place.header).flat for place in standing.around])
    term_weight, weight = idf(held.terms), idf(held.middle)
    return {
        "terms_beyond_title": cover_beyond(term_weight, held.terms, title_terms),
        "terms_in_place": cover(term_weight, held.terms | surrounding_terms),
        "heading_beyond_title": cover_beyond(weight, headings, titles),
        "header_beyond_title": cover_beyond(weight, headers, titles),
        "title_repeated": cover_beyond(weight, held.middle, ~titles),
        "title": cover(weight, titles),
    }


def _numbers_missing(question: str, pool: Sequence[Candidate], standing: Places) -> Floats:
    wanted = numbers_in(question)
    if not wanted:
        return np.zeros(len(pool))
    around = [wanted & numbers_in(place.text) for place in standing.around]
    return np.array(
        [
            share_missing(wanted, wanted & numbers_in(candidate.text) | around[place])
            for candidate, place in zip(pool, standing.of.tolist(), strict=True)
        ]
    )


def _names_missing(question: str, segments: Sequence[Segment], pool: Sequence[Candidate]) -> Floats:
    names = names_in(question)
    if not names:
        return np.zeros(len(pool))
    read: dict[str, list[str]] = defaultdict(list)
    for segment in segments:
        read[segment.document_id].append(_flattened_whole(segment.title, segment.heading, segment.text))
    missing = {
        document_id: share_missing(names, frozenset(name for name in names if any(name in text for text in texts)))
        for document_id, texts in read.items()
    }
    return np.array([missing[segments[candidate.segment].document_id] for candidate in pool])


@lru_cache(maxsize=512)
def _flattened_whole(title: str, heading: str, text: str) -> str:
    return flattened(f"{title} {heading} {text}")


def _likeness(question: str, pool: Sequence[Candidate], standing: Places) -> Mapping[str, Floats]:
    texts = [candidate.text for candidate in pool]
    openings = [f"{place.text}:" for place in standing.around]
    return {
        "likeness": likeness(question, texts).sentences,
        "likeness_in_place": likeness(question, texts, [openings[place] for place in standing.of.tolist()]).sentences,
    }


def _quantities(question: str, asked: QuestionWording, pool: Sequence[Candidate]) -> Mapping[str, Floats]:
    """Tell which sentences hold the quantity asked for, and how near it stands to words of the question."""
    holds, near = np.zeros(len(pool)), np.zeros(len(pool))
    quantity = asked_quantity(question)
    spans = [quantities_in(candidate.text, quantity, question) if quantity else [] for candidate in pool]
    for index, found in enumerate(spans):
        if found:
            folded = pool[index].text.casefold()
            holds[index] = 1.0
            near[index] = max(_nearness(span, folded, asked.terms) for span in found)
    return {"quantity": holds * (1.0 - holds.mean()), "quantity_near": near}


def _nearness(span: tuple[int, int], text: str, terms: Sequence[str]) -> float:
    places = [text.find(term) for term in terms if term in text]
    near = sum(np.exp(-max(0, span[0] - place, place - span[1]) / _NEAR) for place in places)
    return float(near) / max(1, len(terms))
