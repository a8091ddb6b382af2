"""What code says of one claim: that it is a copy, or why it is open, and whether something speaks against it.

Code gives no other verdict than ``supported`` and ``unverified``. Clock times, words for digits, quarters and units
have many spellings, so another number is a question to the judge, and no proof that a claim is false.
"""

import re
from typing import NamedTuple

from answers.citations import context_of_quote
from graph.evidence import Verdict
from graph.reasons import Reason
from text.language import language
from text.sentences import trimmed
from tools.claims.cited_sources import Sources
from tools.claims.claim_numbers import numbers_of, values_of
from tools.claims.exact_forms import exact_form
from tools.claims.near_copies import Run, changed_run, sides, words_of
from tools.claims.source_sentences import SentencePlace, SourceSentence
from tools.claims.supporting_entries import Evidence, best_segment, find_evidence, weigh
from tools.claims.verbatim import find_verbatim

NOTHING = 0.05  # share of a claim's weight: with less it shares nothing with what it cites
# Share that one entry must hold: with less it is another sentence, and no mark stands but by a judge. Of 40 planted
# falsehoods 12 keep a mark so where there is no judge, 22 without it; of the 40 true sentences beside them 25, not 40.
HALF = 0.5
BEARS = 0.3  # share that another source must hold to be the one that is meant: 322 of 430 true claims with a wrong id
BETTER = 0.15  # and by which it must hold more than those that are cited: 1 of 430 with the right one
MOST_WHOLE = 2400  # characters of a segment in another language that is shown where no entry of it is nearer
MOST_NUMBERS = 3  # that are told as not found
_MARK = re.compile(r"\[\u2060?(?:\^|ref:)?\d{1,4}(?:,\s?\d{1,4})*\]")  # as a writer may put it in itself
UNCITED = Reason("uncited")
UNSAID = Reason("not_said")
ELSEWHERE = Reason("elsewhere")
FOREIGN = Reason("other_language")


class Finding(NamedTuple):
    """What code says of a claim; ``places`` are in the sources that it cites, ``elsewhere`` in others of its run."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    places: tuple[SentencePlace, ...] = ()
    elsewhere: tuple[SentencePlace, ...] = ()
    doubted: bool = False


def find(claim: str, lead: int, sources: Sources, others: Sources, question: str, *, uncited: bool) -> Finding:
    """Return what code says of a claim by the sources it cites, and by the others where these bear it instead.

    ``lead`` is the length of a first sentence without a fact, such as "Yes, in part.", which no source can say.
    ``uncited`` says that ``sources`` are all there are, since its section names none.
    """
    copied = find_verbatim(claim, sources)
    elsewhere = () if copied else find_verbatim(claim, others)
    if copied or elsewhere:
        return Finding("supported", (), copied, elsewhere)
    said = _MARK.sub("", claim[lead:])
    if lead and (copied := find_verbatim(said, sources)):
        return Finding("unverified", (Reason("lead_open", claim[:lead].strip()),), copied)
    own, other, reason = _evidence(said, sources, others)
    if reason is ELSEWHERE:
        return Finding("unverified", (ELSEWHERE,), own.places[:1], other.places, doubted=True)
    if uncited or not sources.segments:
        return Finding("unverified", (UNCITED,), own.places, other.places, doubted=True)
    if near := _near_copy(said, sources, question):
        return Finding("unverified", (near[1],), (near[0],), (), doubted=True)
    if missing := missing_numbers(said, sources, question):
        return Finding("unverified", missing, own.places, (), doubted=True)
    far = own.best < NOTHING or (own.best < HALF and not _is_foreign(said, sources))
    doubted = far or _has_number_from_elsewhere(said, own.places[:1], sources, question)
    return Finding("unverified", (reason,), own.places, (), doubted)


def _evidence(claim: str, sources: Sources, others: Sources) -> tuple[Evidence, Evidence, str]:
    """Return the evidence among the cited sources, that of another one if it is to be shown, and why it is open."""
    weights = weigh(claim, (sources, others))
    own = find_evidence(weights, sources.entries)
    other = best_segment(weights, others) if own.share + BETTER <= 1 else Evidence()
    if not sources.segments:
        return own, other, UNCITED
    if other.share >= max(BEARS, own.share + BETTER) and not _is_foreign(claim, sources):
        return own, other, ELSEWHERE  # words of another language are no measure of what is nearer
    if own.share >= NOTHING:
        return own, Evidence(), Reason("closest_sentence", round(own.share, 4))
    if not _is_foreign(claim, sources):
        return Evidence(), Evidence(), UNSAID
    start, end = trimmed(sources.segments[0].text, 0, min(MOST_WHOLE, len(sources.segments[0].text)))
    return Evidence(((0, start, end),) if start < end else ()), Evidence(), FOREIGN


def _is_foreign(claim: str, sources: Sources) -> bool:
    """Whether none of the sources is in the claim's language, so that it may say the same in other words."""
    spoken = language(claim, default="")
    return bool(spoken) and all(language(each.text[:2000], default=spoken) != spoken for each in sources.segments)


def missing_numbers(claim: str, sources: Sources, question: str) -> tuple[str, ...]:
    """Return the numbers in digits that stand nowhere in the cited sources, their titles, nor in the question."""
    asked = values_of(question)
    missing = [each.written for each in numbers_of(claim) if each.values.isdisjoint(sources.numbers | asked)]
    return tuple(Reason("number_not_found", number) for number in dict.fromkeys(missing))[:MOST_NUMBERS]


def _has_number_from_elsewhere(claim: str, nearest: tuple[SentencePlace, ...], sources: Sources, question: str) -> bool:
    """Whether a number of a claim stands in what it cites, but not in the entry nearest to it nor above that."""
    numbers = numbers_of(claim)
    if not numbers or not nearest:
        return False
    ((at, start, end),) = nearest
    segment = sources.segments[at]
    known = values_of(f"{segment.title} | {segment.heading} | {question} | {segment.text[start:end]}")
    return any(each.values.isdisjoint(known) for each in numbers)


def _near_copy(claim: str, sources: Sources, question: str) -> tuple[SentencePlace, str] | None:
    """Return the sentence that a claim is but for the shortest run, and what that is; none where it only names."""
    form = exact_form(claim)
    words = words_of(form)
    near: list[tuple[int, bool, SentencePlace, Reason]] = []
    for at, sentence in sources.sentences:
        if run := changed_run(words, sentence.words):
            same = _is_aside(run, form) or _is_one_number(run) or _only_names(run, at, sentence, sources, question)
            reason = Reason("differs", *sides(run, sentence.unmarked, form))
            near.append((len(run.source) + len(run.claim), not same, (at, sentence.start, sentence.end), reason))
    if not near:
        return None
    _, differs, place, reason = min(near)
    return (place, reason) if differs else None


def _only_names(run: Run, at: int, sentence: SourceSentence, sources: Sources, question: str) -> bool:
    """Whether a claim only names what a sentence's first word points to: "The port is read" for "It is read"."""
    if not (run.opens and len(run.source) == 1 < len(run.claim)):  # what is put in may deny or narrow: "not", "only"
        return False
    if any(word[:1].isdecimal() for word in (*run.source, *run.claim)):
        return False
    segment = sources.segments[at]
    hangs_on = context_of_quote(segment, segment.start + sentence.start, segment.start + sentence.end)
    named = (segment.title, segment.heading, question, *(each["text"] for each in hangs_on))
    return set(run.claim) <= {word for text in named for word in words_of(exact_form(text))}


def _is_one_number(run: Run) -> bool:
    """Whether a claim only writes a number otherwise that can be read in one way: "1.5" for "1,50"."""
    if not len(run.source) == len(run.claim) == 1:
        return False
    values = values_of(run.source[0])
    return len(values) == 1 and values == values_of(run.claim[0])


def _is_aside(run: Run, form: tuple[str, ...]) -> bool:
    """Whether a claim only puts a few words and a comma before the sentence: "In short, ..."."""
    return run.opens and not run.source and form[len(run.claim) : len(run.claim) + 1] in ((",",), ("，",))
