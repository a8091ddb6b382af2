"""Detect that two sources disagree: nearly the same sentence with another number, date, name or polarity."""

import re
from collections.abc import Sequence
from functools import lru_cache

from answers.editions import are_editions, names_an_edition, states_edition
from graph.evidence import Proof, Segment
from graph.ports import Dispute
from graph.reasons import Reason
from tools.claims.alignment import common_in_order
from tools.claims.cited_sources import Sources
from tools.claims.hard_conflicts import Conflict, Surroundings, compare
from tools.claims.self_descriptions import says_of_itself, tells_own_version
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence
from tools.claims.source_sentences import Content, content_of, rough_words

ALIKE = 0.7  # share of the longer sentence's content that both must have in order
HALF = 0.5
FEWEST = 3  # content tokens in common
FEWEST_WORDS = 2  # words as written in common; a unit or number among the tokens may be written otherwise
_WORD = re.compile(r"\w+(?:\.\w+)*")
_OF_SOURCES = {
    "differs": "another_value",
    "negated_otherwise": "another_negation",
    "negation_left_out": "denied",
    "negation_added": "denies",
}


def find_disputes(
    claim: str, quotes: Sequence[str], proving: Sequence[Segment], others: Sources, question: str = ""
) -> tuple[Dispute, ...]:
    """Return the sentences of other sources that conflict with a claim or with the quotes that prove it.

    ``proving`` are the segments quoted from. Only sentences that share some words with one of these are read, in a long
    text those that share most. A document that says the same somewhere is no rival: it is a copy, or holds both. Nor is
    another edition than the one that the question names.
    """
    rivals = [
        any(same_subject(one, other) and not names_an_edition(question, one.title, other.title) for one in proving)
        for other in others.segments
    ]
    if not any(rivals):
        return ()
    texts = list(dict.fromkeys((claim, *quotes)))
    near = set[int]().union(*(others.holding(rough_words(text), FEWEST_WORDS) for text in texts))
    read = [(text, parse_sentence(text)) for text in texts] if near else []
    said = [(text, reading, content_of(reading)) for text, reading in read]
    keys = {reading.keys for _, reading in read}
    places = [others.places[place] for place in sorted(near)]
    agreeing = {others.segments[at].document_id for at, sentence in places if sentence.reading.keys in keys}
    found: list[Dispute] = []
    for at, sentence in places:
        other = others.segments[at]
        if not rivals[at] or other.document_id in agreeing:
            continue
        theirs = sentence.reading, sentence.content
        conflicts = (
            conflict
            for text, reading, content in said
            for conflict in _conflicts(reading, content, *theirs)
            if not _of_themselves(conflict, proving, other, (text, sentence.text))
        )
        conflict = next(conflicts, None)
        if conflict is not None:
            start, end = other.start + sentence.start, other.start + sentence.end
            proof = Proof(segment_id=other.segment_id, start=start, end=end, origin="cited")
            found.append(Dispute(proof, _reason(conflict), conflict.sides))
    return tuple(found)


def same_subject(one: Segment, other: Segment) -> bool:
    """Whether two segments can contradict each other, judged by their documents.

    Titles are the same but for a word or two where they have as many words and more than half of them in common, place
    by place: "Askvik ferry line" and "Norholm ferry line" are two things. Editions of one thing, such as the "Visitor
    guide, 2024" and "..., 2025", can contradict each other. Copies of one document are that document.
    """
    if one.document_id == other.document_id or (one.content_hash and one.content_hash == other.content_hash):
        return False
    return _on_one_subject(one.title, other.title)


@lru_cache(maxsize=512)
def _on_one_subject(one: str, other: str) -> bool:
    ours, theirs = _WORD.findall(one.casefold()), _WORD.findall(other.casefold())
    if len(ours) != len(theirs) or ours == theirs or are_editions(one, other):
        return True
    shared = [mine == yours for mine, yours in zip(ours, theirs, strict=True)].count(True)
    return 2 * shared <= len(ours)


def _of_themselves(conflict: Conflict, proving: Sequence[Segment], other: Segment, texts: tuple[str, str]) -> bool:
    """Whether a conflict is only what two documents say of themselves, such as their versions, years or dates."""
    said, says = conflict.sides
    if any(states_edition(one.title, other.title, said, says) for one in proving):
        return True
    if any(tells_own_version(text, value) for text, value in zip(texts, conflict.sides, strict=True)):
        return True
    named_alike = any(one.title.casefold() == other.title.casefold() for one in proving)
    return not named_alike and all(map(says_of_itself, texts))


def _conflicts(one: ParsedSentence, ours: Content, other: ParsedSentence, theirs: Content) -> tuple[Conflict, ...]:
    """Return in what two sentences conflict if they are nearly the same."""
    shorter, longer = sorted((len(ours.keys), len(theirs.keys)))
    if shorter < FEWEST or shorter < HALF * longer:
        return ()
    if len(ours.distinct & theirs.distinct) < max(FEWEST, HALF * shorter):
        return ()
    shared = common_in_order(ours.keys, theirs.keys)
    if shared < FEWEST or (shared < ALIKE * longer and _around(one.keys, other.keys) < ALIKE):
        return ()
    comparison = compare(one, other, Surroundings(copies=True))
    if comparison.finding != "conflict":
        return ()
    return comparison.conflicts


def _reason(conflict: Conflict) -> Reason:
    """Return what two sources contradict each other in, of a conflict of one with the other."""
    return Reason(_OF_SOURCES[conflict.reason.code], *conflict.reason.parts)


def _around(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of the longer of two sequences that both begin and end with."""
    longest, shortest = max(len(one), len(other)), min(len(one), len(other))
    head = next((at for at in range(shortest) if one[at] != other[at]), shortest)
    tail = next((at for at in range(shortest - head) if one[-1 - at] != other[-1 - at]), shortest - head)
    return (head + tail) / longest
