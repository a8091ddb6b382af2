"""Find the whole source sentences that a claim repeats but for notation, where nothing around denies them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph.evidence import Segment
from text.normal_forms import unify_signs
from text.scripts import INVISIBLE
from tools.claims.cited_sources import Sources
from tools.claims.claim_tokens import UNSPACED
from tools.claims.exact_forms import ExactForm, exact_form
from tools.claims.lexicon import denials_in
from tools.claims.source_sentences import (
    BULLET,
    SourceSentence,
    SourceText,
    flat_words,
    in_line,
    without_last_mark,
)

SentencePlace = tuple[int, int, int]  # segment, start, end

MOST_MATCHES = (
    16  # sentences with the beginning of one claim that are compared with it, and denied ones that are passed
)
MOST_ALIKE = 256  # equal sentences of one source that may begin a claim
_CLAIM_BULLET = re.compile(r"\A\s*[-*•]\s+(?=\D)")
_QUOTED = re.compile(r'\A\s*"([^"]*)"([.。]?)\s*\Z')
_UNSEEN = re.compile(f"[{INVISIBLE}]+")


@dataclass(frozen=True, slots=True)
class VerbatimMatch:
    """The whole sentences that a claim repeats, and whether the text around them denies or conditions them."""

    places: tuple[SentencePlace, ...]
    denied: bool


def find_verbatim(claim: str, sources: Sources) -> VerbatimMatch | None:
    """Return the first sentences that say, one after the other, just what the claim says; denied ones if no others.

    Takes time linear in the claim, once the sources are indexed.
    """
    said = _CLAIM_BULLET.sub("", claim, count=1)
    bare = _QUOTED.sub(r"\1\2", unify_signs(without_last_mark(said)))
    forms = tuple(dict.fromkeys((exact_form(said), exact_form(bare))))
    denied = None
    for at, text in enumerate(sources.texts):
        segment = sources.segments[at]
        for count, (first, last) in enumerate(_equal_runs(forms, text)):
            places = tuple((at, each.start, each.end) for each in text.sentences[first : last + 1])
            if _UNSEEN.search(claim) and not _same_unseen(claim, text.text[places[0][1] : places[-1][2]]):
                continue
            if not is_denied(segment, text, first, last):
                return VerbatimMatch(places, denied=False)
            denied = denied or VerbatimMatch(places, denied=True)
            if count == MOST_MATCHES:
                break
    return denied


def _same_unseen(claim: str, quote: str) -> bool:
    """Whether a claim hides the same characters as its source, and not others behind what is read."""
    return "".join(_UNSEEN.findall(claim)) == "".join(_UNSEEN.findall(quote))


def _equal_runs(forms: Sequence[ExactForm], text: SourceText) -> Iterator[tuple[int, int]]:
    """Find what a claim repeats as it is, or without its own quotes and mark; a mark of the source alone may go too."""
    for form in forms:
        as_is = form == forms[0]
        line = in_line(form)
        for first in text.forms.get(line, ()) if form else ():
            sentence = text.sentences[first]
            if form in sentence.forms or (as_is and form == sentence.unmarked):
                yield first, first
        yield from _equal_chains(form, line, text, unmarked=as_is)


def _equal_chains(form: ExactForm, line: str, text: SourceText, *, unmarked: bool) -> Iterator[tuple[int, int]]:
    """Find several sentences that are together what a claim says."""
    tried = 0
    for beginning, places in text.forms.items():
        if len(beginning) >= len(line):
            return
        if not beginning or not line.startswith(beginning):
            continue
        length = beginning.count(" ")
        for first in places[:MOST_ALIKE]:
            if not _goes_on(form, length, text, first):
                continue
            tried += 1
            if tried > MOST_MATCHES:
                return
            last = _last_of(form, text, first, unmarked=unmarked)
            if last is not None:
                yield first, last


def _goes_on(form: ExactForm, length: int, text: SourceText, first: int) -> bool:
    """Whether the sentence after one that begins a form begins as the form goes on, behind a stop."""
    if first + 1 >= len(text.sentences):
        return False
    after = form[length + (form[length] in (".", "。")) :]
    begins = [each[0] for each in text.sentences[first + 1].forms if each]
    # A number that opens a sentence in words is read only there, not within a text.
    return bool(after) and any(each.isdecimal() or each.casefold() == after[0].casefold() for each in begins)


def _last_of(form: ExactForm, text: SourceText, first: int, *, unmarked: bool) -> int | None:
    """Return the last of the sentences that are together a form, None where they are not."""
    begin = text.sentences[first].start
    bullet = BULLET.match(text.text, begin)
    for last in range(first + 1, len(text.sentences)):
        end = text.sentences[last].end
        found = [exact_form(text.text[start:end]) for start in (begin, bullet.end() if bullet else begin)]
        if unmarked:
            found.append(exact_form(without_last_mark(text.text[bullet.end() if bullet else begin : end])))
        if form in found:
            return last
        if min(map(len, found)) > len(form):
            return None
    return None


_COLONS = (":", "\uff1a")
FARTHEST = 12  # sentences before and after that may speak of a sentence
BESIDE = 2  # sentences on either side in which a speaker may take back what is said
LEAD = 8  # words, at most, of a line that says whose words follow
SHORT = 4  # words, at most, of a sentence that says only what the one beside it is


def is_denied(segment: Segment, source: SourceText, first: int, last: int) -> bool:
    """Whether the text around some sentences denies them, sets a condition, or quotes them as another's words."""
    sentences = source.sentences
    before = sentences[max(0, first - FARTHEST) : first]
    after = sentences[last + 1 : last + 1 + FARTHEST]
    if source.quoting[first] or "false" in denials_in(flat_words(segment.heading)):
        return True
    if any("here" in each.denials and _limits(each) for each in before):
        return True
    ahead = (each for each in before if "ahead" in each.denials and _limits(each, "forbids", "conditions"))
    if any(_reaches(segment, each, sentences[first].start) for each in ahead):
        return True
    if any("back" in each.denials and _limits(each, "true") for each in after):
        return True
    if before and not before[-1].denials.isdisjoint(("conditions", "false")) and _is_short(before[-1]):
        return True
    if any("disowns" in each.denials for each in (*before[-BESIDE:], *after[:BESIDE])):
        return True
    if before and before[-1].text.endswith(_COLONS) and _is_short(before[-1], LEAD) and "says" in before[-1].denials:
        return True
    if any("false" in each.denials and _is_short(each) for each in after):
        return True
    lead_in = _lead_in(sentences, first)
    return lead_in is not None and _limits(lead_in) and _reaches(segment, lead_in, sentences[first].start)


def _reaches(segment: Segment, sentence: SourceSentence, offset: int) -> bool:
    """Whether a sentence that speaks of what follows may mean what begins at an offset of its segment.

    It does not mean what is beyond its section nor, where it leads to a list, a table or code, what is beyond that.
    """
    starts = [block.start - segment.start for block in segment.blocks]
    own, other = bisect_right(starts, sentence.start) - 1, bisect_right(starts, offset) - 1
    if own < 0 or own == other:
        return True
    if any(block.kind == "heading" for block in segment.blocks[own + 1 : other + 1]):
        return False
    led, block = segment.blocks[own + 1], segment.blocks[other]
    if led.kind == "paragraph" or block.kind == led.kind or not sentence.text.endswith(_COLONS):
        return True
    begin, end = segment.start + sentence.start, segment.start + sentence.end
    return any(begin <= each.start < end for each in block.context)


def _limits(sentence: SourceSentence, *also: str) -> bool:
    """Whether a sentence negates, forbids, calls false or sets a condition; ``also`` what else it must hold."""
    if also and sentence.denials.isdisjoint(("false", *also)):
        return False
    return any(sentence.reading.negates) or not sentence.denials.isdisjoint(("forbids", "false", "conditions"))


def _lead_in(sentences: Sequence[SourceSentence], at: int) -> SourceSentence | None:
    """Return the line that ends with a colon before the items of which a sentence is one."""
    for past in range(at - 1, max(-1, at - 1 - FARTHEST), -1):
        if sentences[past].text.endswith(_COLONS):
            return sentences[past]
        if not BULLET.match(sentences[past].text):
            return None
    return None


def _is_short(sentence: SourceSentence, most: int = SHORT) -> bool:
    return len(_UNIT.findall(sentence.flat)) <= most


_UNIT = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
