"""Find the whole source sentences that a claim repeats but for notation."""

import re
from collections.abc import Iterator, Sequence

from text.normal_forms import unify_signs
from text.scripts import INVISIBLE
from tools.claims.cited_sources import Sources
from tools.claims.exact_forms import ExactForm, exact_form, in_line
from tools.claims.source_sentences import BULLET, SentencePlace, SourceText, without_last_mark

MOST_MATCHES = 16  # sentences with the beginning of one claim that are compared with it
MOST_ALIKE = 256  # equal sentences of one source that may begin a claim
_CLAIM_BULLET = re.compile(r"\A\s*[-*•]\s+(?=\D)")
_QUOTED = re.compile(r'\A\s*"([^"]*)"([.。]?)\s*\Z')
_UNSEEN = re.compile(f"[{INVISIBLE}]+")


def find_verbatim(claim: str, sources: Sources) -> tuple[SentencePlace, ...]:
    """Return the first sentences that say, one after the other, just what the claim says; none where none do.

    Takes time linear in the claim, once the sources are indexed.
    """
    said = _CLAIM_BULLET.sub("", claim, count=1)
    bare = _QUOTED.sub(r"\1\2", unify_signs(without_last_mark(said)))
    forms = tuple(dict.fromkeys((exact_form(said), exact_form(bare))))
    for at, text in enumerate(sources.texts):
        for first, last in _equal_runs(forms, text):
            places = tuple((at, each.start, each.end) for each in text.sentences[first : last + 1])
            if not _UNSEEN.search(claim) or _same_unseen(claim, text.text[places[0][1] : places[-1][2]]):
                return places
    return ()


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
    return bool(after) and any(each.casefold() == after[0].casefold() for each in begins)


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
