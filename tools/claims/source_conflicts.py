"""Detect that two sources disagree: the same sentence but for one short run, or its numbers, with other values."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

from graph.evidence import Proof, Segment
from graph.ports import Dispute
from graph.reasons import Reason
from text.scripts import UNSPACED
from tools.claims.cited_sources import Sources
from tools.claims.claim_numbers import values_of
from tools.claims.claim_verdicts import Finding
from tools.claims.near_copies import Run, changed_run, sides
from tools.claims.source_sentences import SourceSentence

FEWEST = 4  # words that two sentences must share, and three times as many as they differ in
_LETTER = re.compile(f"[{UNSPACED}]")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"[12]\d{3}")
_WORD = re.compile(r"\w+(?:\.\w+)*")


def find_disputes(claim: str, found: Finding, sources: Sources, others: Sources) -> tuple[Dispute, ...]:
    """Return the sentences of other documents that say another value where those that a claim rests on say theirs.

    A document that says the same somewhere is no rival: it is a copy, or holds both. Of a claim that is no copy only
    values that it says itself are compared.
    """
    disputes: list[Dispute] = []
    copied = found.verdict == "supported"
    for own, places in ((sources, found.places), (others, found.elsewhere)):
        for at, start, end in places:
            said = [each for each in own.texts[at].sentences if start <= each.start and each.end <= end]
            for pool in (sources, others):
                found_there = _disputes(said, own.segments[at], pool, None if copied else values_of(claim))
                disputes += [each for each in found_there if each not in disputes]
    return tuple(disputes)


def _disputes(
    said: Sequence[SourceSentence], proving: Segment, pool: Sources, values: frozenset[str] | None
) -> list[Dispute]:
    rivals = {at for at, other in enumerate(pool.segments) if same_subject(proving, other)}
    found: list[tuple[str, Dispute]] = []
    agreeing: set[str] = set()
    for at, sentence in pool.sentences if rivals else ():
        if at not in rivals:
            continue
        other = pool.segments[at]
        for own in said:
            if own.words == sentence.words:
                agreeing.add(other.document_id)
            elif (run := _changed(own, sentence)) and _is_another_value(run, own, sentence):
                theirs, ours = sides(run, sentence.unmarked, own.unmarked)
                if values is not None and values_of(ours).isdisjoint(values):
                    continue
                start, end = other.start + sentence.start, other.start + sentence.end
                proof = Proof(segment_id=other.segment_id, start=start, end=end, origin="cited")
                reason = Reason("another_value", theirs, ours)
                found.append((other.document_id, Dispute(proof, reason, (ours, theirs))))
    return [dispute for document_id, dispute in found if document_id not in agreeing]


def _changed(own: SourceSentence, other: SourceSentence) -> Run | None:
    """Return the run in which two sentences differ; the first of several numbers where they differ in numbers alone.

    Where one of these may be a year, they tell of two times and contradict each other in nothing.
    """
    if run := changed_run(own.words, other.words):
        return run
    pairs = [pair for pair in zip(own.words, other.words, strict=False) if pair[0] != pair[1]]
    is_numbers = all(map(_DIGITS.fullmatch, chain.from_iterable(pairs)))
    if len(own.words) != len(other.words) or not is_numbers or any(map(_YEAR.fullmatch, chain.from_iterable(pairs))):
        return None
    mine, theirs = pairs[0]
    return Run((theirs,), (mine,), opens=False)


def _is_another_value(run: Run, own: SourceSentence, other: SourceSentence) -> bool:
    """Whether both sides of a run hold another number, or both a name; in a sentence that says more.

    Names are capitalised. In a script without capitals any words count: nobody copies a sentence to put in a synonym.
    """
    shared = len(own.words) - len(run.claim)
    if shared < max(FEWEST, 3 * max(len(run.claim), len(run.source))):
        return False
    ours, theirs = values_of(" ".join(run.claim)), values_of(" ".join(run.source))
    if ours or theirs:
        return bool(ours) and bool(theirs) and ours.isdisjoint(theirs)
    if run.opens or not (run.claim and run.source):
        return False
    if all(map(_LETTER.match, (*run.claim, *run.source))):
        return True
    return _is_name(run.claim, own) and _is_name(run.source, other)


def _is_name(words: Sequence[str], sentence: SourceSentence) -> bool:
    """Whether all words of a run are capitalised where they stand."""
    written = {key for key in sentence.unmarked if key[:1].isupper()}
    return all(word in written or word.capitalize() in written for word in words)


def same_subject(one: Segment, other: Segment) -> bool:
    """Whether two segments can contradict each other, judged by their documents.

    Titles are the same but for a word or two where they have as many words and more than half of them in common, place
    by place: "Askvik ferry line" and "Norholm ferry line" are two things. Copies of one document are that document.
    """
    if one.document_id == other.document_id or (one.content_hash and one.content_hash == other.content_hash):
        return False
    return _on_one_subject(one.title, other.title)


@lru_cache(maxsize=512)
def _on_one_subject(one: str, other: str) -> bool:
    ours, theirs = _WORD.findall(one.casefold()), _WORD.findall(other.casefold())
    if len(ours) != len(theirs) or ours == theirs:
        return True
    shared = [mine == yours for mine, yours in zip(ours, theirs, strict=True)].count(True)
    return 2 * shared <= len(ours)
