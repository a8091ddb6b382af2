"""How a sentence answers in its place: with its title, its heading and its table's header row read along.

What the title says of the question need not be said again, so that a sentence is measured by what it adds; and a
sentence under the title of another thing than the question names is none of its answers, whatever it says.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from graph.evidence import Segment
from tools.extractive.arrays import Bools, Floats, cover, cover_beyond, idf, presence
from tools.extractive.asked_quantities import asked_quantity, quantities_in
from tools.extractive.candidates import Candidate
from tools.extractive.likeness import likeness
from tools.extractive.question_names import names_in, numbers_in, share_missing
from tools.extractive.surroundings import Surroundings, surroundings
from tools.extractive.wording import QuestionWording, flattened, worded

PLACED = (
    "heading_line",  # is a heading, or a row of a table
    "row",
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


def placed_features(
    question: str, asked: QuestionWording, segments: Sequence[Segment], pool: Sequence[Candidate]
) -> dict[str, Floats]:
    """Compute the columns of PLACED."""
    places = surroundings(segments, pool)
    middle = asked.grams[1]
    sentences = presence(middle, [candidate.wording.flat for candidate in pool])
    titles = presence(middle, [flattened(place.title) for place in places])
    headings = presence(middle, [flattened(place.heading) for place in places])
    headers = presence(middle, [flattened(place.header) for place in places])
    weight = idf(sentences)
    quantity, quantity_near = _quantities(question, asked, pool)
    return {
        "heading_line": _shaped(pool, "heading"),
        "row": _shaped(pool, "row") * np.array([bool(place.header) for place in places]),
        **_terms(asked, pool, places),
        "heading_beyond_title": cover_beyond(weight, headings, titles),
        "header_beyond_title": cover_beyond(weight, headers, titles),
        "title_repeated": cover_beyond(weight, sentences, ~titles),
        "title": cover(weight, titles),
        "numbers_missing": _numbers_missing(question, pool, places),
        "names_missing": _names_missing(question, segments, pool),
        "likeness": likeness(question, [candidate.text for candidate in pool]).sentences,
        "likeness_in_place": likeness(
            question, [f"{place.text}: {candidate.text}" for place, candidate in zip(places, pool, strict=True)]
        ).sentences,
        "quantity": quantity,
        "quantity_near": quantity_near,
    }


def _shaped(pool: Sequence[Candidate], shape: str) -> Floats:
    return np.array([candidate.shape == shape for candidate in pool], dtype=np.float64)


def _terms(asked: QuestionWording, pool: Sequence[Candidate], places: Sequence[Surroundings]) -> dict[str, Floats]:
    sentences = presence(asked.terms, [candidate.wording.vocabulary for candidate in pool])
    titles = presence(asked.terms, [worded(place.title).vocabulary for place in places])
    around: Bools = presence(asked.terms, [worded(place.text).vocabulary for place in places])
    weight = idf(sentences)
    return {
        "terms_beyond_title": cover_beyond(weight, sentences, titles),
        "terms_in_place": cover(weight, sentences | around),
    }


def _numbers_missing(question: str, pool: Sequence[Candidate], places: Sequence[Surroundings]) -> Floats:
    wanted = numbers_in(question)
    return np.array(
        [
            share_missing(wanted, numbers_in(candidate.text) | numbers_in(place.text)) if wanted else 0.0
            for candidate, place in zip(pool, places, strict=True)
        ]
    )


def _names_missing(question: str, segments: Sequence[Segment], pool: Sequence[Candidate]) -> Floats:
    names = names_in(question)
    if not names:
        return np.zeros(len(pool))
    read: dict[str, str] = defaultdict(str)
    for segment in segments:
        read[segment.document_id] += flattened(f"{segment.title} {segment.heading} {segment.text}")
    missing = {key: share_missing(names, [name for name in names if name in text]) for key, text in read.items()}
    return np.array([missing[segments[candidate.segment].document_id] for candidate in pool])


def _quantities(question: str, asked: QuestionWording, pool: Sequence[Candidate]) -> tuple[Floats, Floats]:
    holds, near = np.zeros(len(pool)), np.zeros(len(pool))
    quantity = asked_quantity(question)
    if quantity is None:
        return holds, near
    for index, candidate in enumerate(pool):
        spans = quantities_in(candidate.text, quantity, question)
        if spans:
            holds[index] = 1.0
            near[index] = max(_nearness(span, candidate.text.casefold(), asked.terms) for span in spans)
    return holds * (1.0 - holds.mean()), near


def _nearness(span: tuple[int, int], text: str, terms: Sequence[str]) -> float:
    places = [text.find(term) for term in terms if term in text]
    near = sum(np.exp(-max(0, span[0] - place, place - span[1]) / _NEAR) for place in places)
    return float(near) / max(1, len(terms))
