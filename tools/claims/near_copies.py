"""A sentence that is another one but for one short run of words or signs, and what that run is in both."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from text.scripts import UNSPACED
from tools.claims.exact_forms import ExactForm

MOST_WORDS = 3  # of a run; it is at most half of the sentence
MOST_LETTERS = 4  # of a script without spaces, in which a word has one or two
LONGEST = 120  # words; a longer claim repeats no single sentence but for a run
_LETTER = re.compile(f"[{UNSPACED}]")
_SIGNS = frozenset(
    "，、；。：！？（）《》,;.:!?()[]\"'…-·"
)  # punctuation; other signs, and "-" at a number, say something


class Run(NamedTuple):
    """What a source sentence has in a place, and what a claim has there instead; either may be empty."""

    source: tuple[str, ...]
    claim: tuple[str, ...]
    opens: bool  # at the beginning of the sentence


@lru_cache(maxsize=2048)
def words_of(form: ExactForm) -> tuple[str, ...]:
    """Return the words and signs that carry meaning; capitals count where they are more than a word's first."""
    keys = [key.casefold() if key[1:].islower() else key for key in form]
    return tuple([key for at, key in enumerate(keys) if key not in _SIGNS or (key == "-" and _joins_number(keys, at))])


def _joins_number(keys: Sequence[str], at: int) -> bool:
    return any(key[:1].isdecimal() for key in keys[max(0, at - 1) : at + 2])


def changed_run(claim: Sequence[str], source: Sequence[str]) -> Run | None:
    """Return the one short run in which a claim differs from a source sentence, None where it differs otherwise."""
    shorter, longer = sorted((len(claim), len(source)))
    if not shorter or longer > LONGEST or longer - shorter > MOST_LETTERS:
        return None
    head = next((at for at in range(shorter) if claim[at] != source[at]), shorter)
    tail = next((at for at in range(shorter - head) if claim[-1 - at] != source[-1 - at]), shorter - head)
    run = Run(tuple(source[head : len(source) - tail]), tuple(claim[head : len(claim) - tail]), opens=head == 0)
    if len(claim) == len(source) and len(run.claim) > MOST_WORDS:
        run = _same_everywhere(run)
    both = (*run.source, *run.claim)
    most = min(MOST_LETTERS if any(map(_LETTER.match, both)) else MOST_WORDS, longer // 2)
    return run if both and max(len(run.source), len(run.claim)) <= most else None


def _same_everywhere(run: Run) -> Run:
    """Return the words that a claim replaces by the same others wherever they stand, else the run as it is."""
    pairs = groupby(zip(run.source, run.claim, strict=True), key=lambda pair: pair[0] != pair[1])
    changes = {tuple(changed) for differs, changed in pairs if differs}
    if len(changes) > 1:
        return run
    source, claim = zip(*changes.pop(), strict=True)
    return Run(source, claim, run.opens)


def sides(run: Run, source: ExactForm, claim: ExactForm) -> tuple[str, str]:
    """Return both sides of a run as their sentences write them."""
    return _as_written(run.source, source), _as_written(run.claim, claim)


def _as_written(words: Sequence[str], form: ExactForm) -> str:
    written = {key.casefold(): key for key in form}
    said = [written.get(word, word) for word in words]
    return ("" if any(map(_LETTER.match, said)) else " ").join(said)
