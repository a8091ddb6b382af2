"""Decide what a claim's sources prove of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from graph.evidence import Verdict
from tools.claims.comparison import Comparison, Finding, compare
from tools.claims.frames import frame_end, opener_end
from tools.claims.function_words import FUNCTION_WORDS
from tools.claims.names import is_roman
from tools.claims.readings import Reading, read
from tools.claims.sources import Sources, SourceSentence, readings_of, terms_of
from tools.languages import language

CLOSEST = 4  # sentences that a claim is compared with
LEAST_COVER = 0.5  # share of a claim's terms that must stand in its sources for it to be more than unsupported
LEAST_LETTER_COVER = 0.4  # the same of pairs of letters, which a paraphrase breaks more easily
SLACK = 0.3  # how far two sentences joined may differ in length from a claim that says both
PART = "it is a part of a longer source sentence"
ORDER = "the same words stand in another order in the source"
UNSAID = "no sentence of the cited sources says this"
FOREIGN = "it is in another language than its sources"

_WHOLE: Mapping[Finding, tuple[str, ...]] = {"same": (), "part": (PART,), "order": (ORDER,)}

Place = tuple[int, int, int]  # segment, start, end


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reasons and the source sentences it rests on, the closest first."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    near: float = 0.0


@dataclass(frozen=True, slots=True)
class _Found:
    comparison: Comparison
    places: tuple[Place, ...]


def judge(claim: str, sources: Sources) -> Judgement:
    """Decide on one claim. Takes time linear in the sources, beside a fixed number of sentence comparisons."""
    if not sources.places:
        return Judgement("unsupported", ("the section cites no source",))
    reading = read(claim)
    if not reading.tokens:
        return _wordless(claim, sources)
    if exact := _verbatim(reading, sources):
        return Judgement("supported", (), exact, 1.0)
    begins = _behind(reading, frame_end(reading.folded))
    found = _comparisons(reading, begins, sources)
    return _settled(found) or _unsettled(claim, reading, begins, sources, _best(found))


def _settled(found: Sequence[_Found]) -> Judgement | None:
    """Decide where one sentence says all that the claim says, or conflicts with it."""
    for finding, reason in _WHOLE.items():
        for candidate in found:
            if candidate.comparison.finding == finding:
                verdict: Verdict = "unverified" if reason else "supported"
                return Judgement(verdict, reason, candidate.places, candidate.comparison.near)
    best = _best(found)
    if best is not None and best.comparison.finding == "conflict":
        return Judgement("contradicted", best.comparison.reasons, best.places, best.comparison.near)
    return None


def _unsettled(claim: str, reading: Reading, begins: int, sources: Sources, best: _Found | None) -> Judgement:
    """Tell what is not in the sources from what may be."""
    terms = terms_of(reading, begins)
    if _foreign(claim, sources, terms):
        return _across(reading, begins, sources, best)
    if best is None:
        return Judgement("unsupported", (UNSAID,))
    if missing := _missing(reading, begins, sources):
        return Judgement("unsupported", missing)
    letters = sum(token.kind == "letter" for token in reading.tokens) * 2 > len(reading.tokens)
    if sources.cover(terms) < (LEAST_LETTER_COVER if letters else LEAST_COVER):
        return Judgement("unsupported", (UNSAID,))
    if best.comparison.swapped:
        return Judgement("unsupported", (best.comparison.swapped,))
    near = best.comparison.near
    return Judgement("unverified", (f"the closest source sentence has {near:.0%} of its words",), best.places, near)


def _wordless(claim: str, sources: Sources) -> Judgement:
    """Decide on a claim without words or symbols, which only its very characters can prove."""
    said = "".join(claim.split())
    for at, text in enumerate(sources.texts):
        marks = ["".join(sources.segments[at].text[one.start : one.end].split()) for one in text.sentences]
        for first in range(len(marks)):
            last = first + 1
            while said.startswith(standing := "".join(marks[first:last])) and standing != said and last < len(marks):
                last += 1
            if standing == said:
                return Judgement("supported", (), tuple((at, s.start, s.end) for s in text.sentences[first:last]), 1.0)
    return Judgement("unsupported", (UNSAID,))


def _verbatim(claim: Reading, sources: Sources) -> tuple[Place, ...]:
    """Find consecutive whole sentences that say just what the claim says, notation aside."""
    for at, text in enumerate(sources.texts):
        for first, sentence in enumerate(text.sentences):
            keys = sentence.reading.keys
            if not keys or claim.keys[: len(keys)] != keys:
                continue
            last, said, spans = first, keys, [sentence]
            while len(said) < len(claim.keys) and last + 1 < len(text.sentences):
                last += 1
                said = said + text.sentences[last].reading.keys
                spans.append(text.sentences[last])
                if claim.keys[: len(said)] != said:
                    break
            if said == claim.keys and spans[-1].reading.asks == claim.asks:
                return tuple((at, span.start, span.end) for span in spans if span.reading.tokens)
    return ()


def _behind(reading: Reading, offset: int) -> int:
    """Give the first token that begins at an offset or later; the whole claim where nothing would be left."""
    begins = next((at for at, token in enumerate(reading.tokens) if token.start >= offset), 0)
    return begins if len(reading.tokens) - begins >= 2 else 0


def _comparisons(claim: Reading, begins: int, sources: Sources) -> list[_Found]:
    closest = sources.closest(terms_of(claim, begins), CLOSEST)
    starts = {begins, _behind(claim, opener_end(claim.folded, frame_end(claim.folded)))}
    framed = claim.folded[: frame_end(claim.folded)].casefold()
    found: list[_Found] = []
    for _, at, sentence in closest:
        place = ((at, sentence.start, sentence.end),)
        also = {0} if framed and sentence.reading.folded.casefold().startswith(framed) else set[int]()
        found.append(_Found(_compare_all(claim, starts | also, sentence.reading, sources), place))
    if not any(one.comparison.finding == "same" for one in found):
        found.extend(_pairs(claim, begins, closest[:3], sources))
    return found


def _compare_all(claim: Reading, starts: set[int], source: Reading, sources: Sources) -> Comparison:
    """Compare with and without what the claim or the source may begin with."""
    shorter = _without_opener(source)
    results = [
        compare(claim, reading, start, sources.known)
        for reading in ((source, shorter) if shorter is not None else (source,))
        for start in starts
    ]
    return min(results, key=_preference)


def _preference(result: Comparison) -> tuple[int, float]:
    findings = list(_WHOLE)
    rank = findings.index(result.finding) if result.finding in _WHOLE else len(findings)
    return rank, -result.near


def _without_opener(source: Reading) -> Reading | None:
    end = opener_end(source.folded)
    return read(source.folded[end:]) if 0 < end < len(source.folded) else None


def _pairs(
    claim: Reading, begins: int, closest: Sequence[tuple[float, int, SourceSentence]], sources: Sources
) -> list[_Found]:
    """Compare with two sentences as one, for a claim that joins what two of them say."""
    found: list[_Found] = []
    terms = terms_of(claim, begins)
    for (_, at, one), (_, to, other) in permutations(closest, 2):
        if one is other or not (terms & one.terms) - other.terms or not (terms & other.terms) - one.terms:
            continue
        if len(terms & (one.terms | other.terms)) < 0.9 * len(terms):
            continue
        if abs(len(one.reading.keys) + len(other.reading.keys) - len(claim.keys)) > SLACK * len(claim.keys):
            continue
        joined = read(f"{one.reading.folded.rstrip(' .。')} and {other.reading.folded}")
        places = ((at, one.start, one.end), (to, other.start, other.end))
        comparison = compare(claim, joined, begins, sources.known)
        if comparison.finding == "same":
            found.append(_Found(comparison, places))
    return found


def _best(found: Sequence[_Found]) -> _Found | None:
    """Choose the nearest sentence; of two about as near, the one that does not conflict."""
    if not found:
        return None
    nearest = max(one.comparison.near for one in found)
    level = [one for one in found if one.comparison.near >= nearest - 0.02]
    return min(level, key=lambda one: (one.comparison.finding == "conflict", -one.comparison.near))


def _foreign(claim: str, sources: Sources, terms: frozenset[str]) -> bool:
    """Tell whether none of the sources is in the claim's language."""
    if sources.cover(terms) >= LEAST_COVER:
        return False
    spoken = language(claim, default="")
    return bool(spoken) and all(language(segment.text[:2000], default=spoken) != spoken for segment in sources.segments)


def _across(reading: Reading, begins: int, sources: Sources, best: _Found | None) -> Judgement:
    if missing := _missing(reading, begins, sources, only_numbers=True):
        return Judgement("unsupported", missing)
    if best is None:
        at, sentence = sources.places[0]
        return Judgement("unverified", (FOREIGN,), ((at, sentence.start, sentence.end),))
    return Judgement("unverified", (FOREIGN,), best.places, best.comparison.near)


def _missing(claim: Reading, begins: int, sources: Sources, *, only_numbers: bool = False) -> tuple[str, ...]:
    """Say which number or name of a claim stands nowhere in its sources."""
    reasons: list[str] = []
    for at in range(begins, len(claim.tokens)):
        token = claim.tokens[at]
        if (
            token.kind in ("number", "date")
            and not (readings_of(token.key) & sources.quantities)
            and not _spelled(claim, at)
        ):
            reasons.append(f"{claim.said(at, at + 1)} stands nowhere in the sources")
        elif (
            not only_numbers
            and claim.names[at] == 2
            and not (_mentioned(token.key, sources) or _shortened(claim, at, sources) or _spelt_out(claim, at, sources))
        ):
            reasons.append(f"the name {claim.said(at, at + 1)} stands nowhere in the sources")
    return tuple(dict.fromkeys(reasons))


def _spelled(claim: Reading, at: int) -> bool:
    """Tell a small number in words, which may be counted from the sources, from one in digits."""
    token = claim.tokens[at]
    return token.value is not None and token.value <= 10 and not any(sign.isdigit() for sign in claim.said(at, at + 1))


def _mentioned(name: str, sources: Sources) -> bool:
    return name in FUNCTION_WORDS or terms_of(read(name)) <= sources.terms or _akin(name, sources)


def _shortened(claim: Reading, at: int, sources: Sources) -> bool:
    """Tell whether the sources hold the initials of the name that a token is a part of."""
    first, last = at, at
    while first > 0 and _joins(claim, first - 1):
        first -= 1
    while last + 1 < len(claim.tokens) and _joins(claim, last + 1):
        last += 1
    initials = "".join(claim.keys[place][0] for place in range(first, last + 1) if claim.names[place])
    return len(initials) > 1 and initials in sources.capitals


def _spelt_out(claim: Reading, at: int, sources: Sources) -> bool:
    """Tell whether the sources hold the words that the token gives the initials of."""
    said = claim.said(at, at + 1).replace(".", "")
    if not (2 <= len(said) <= 6 and said.isalpha() and said.isupper()):
        return False
    words = r"\b" + r"\w*(?:[ -](?:of|the|and|for|in))*[ -]".join(said) + r"\w"
    return any(re.search(words, segment.text) for segment in sources.segments)


def _joins(claim: Reading, at: int) -> bool:
    return claim.names[at] > 0 or claim.keys[at] in ("of", "the", "and")


def _akin(name: str, sources: Sources) -> bool:
    """Tell whether a name stands in the sources as its adjective, plural, or initials do."""
    if is_roman(name):
        return False
    stem = name[: max(4, len(name) - 3)]
    return any(term.startswith(stem) for term in sources.terms)
