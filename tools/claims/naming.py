"""Tell a name that stands for another from a paraphrase, with capitals and in scripts without them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.claims import cues
from tools.claims.alignment import Edit
from tools.claims.amounts import quantities
from tools.claims.chinese_names import looks_like_name
from tools.claims.names import one_name
from tools.claims.numerals import ZH_DIGITS, ZH_SCALES
from tools.claims.readings import Reading
from tools.claims.runs import WORD, Run, is_lettered, is_list, is_name, letters_of, may_name, span_of
from tools.claims.wording import said_of

SURROUNDED = 0.65  # and what a name stands in, before a run that holds more than a name is one
NAME = 5  # content tokens of such a run
ALONE = 0.45  # enough where the claim is the sentence but for one run
NEAR = 0.55  # share of a claim's content that must stand in a sentence before a difference is called a conflict
VERY_NEAR = 0.75
_NUMERALS = frozenset((*ZH_DIGITS, *ZH_SCALES))


@dataclass(frozen=True, slots=True)
class Setting:
    """How near a claim and a sentence are, by the share of either's content that stands in the other in order.

    ``alone`` says that they differ in one run only; ``known`` tells whether a run stands elsewhere in the evidence.
    """

    near: float
    tight: float
    alone: bool
    known: Callable[[str], bool]


def name_conflict(a: Run, b: Run, setting: Setting) -> tuple[str, str] | None:
    """Give the two names where a name of the claim stands for another of the source."""
    theirs = [place for place in a.places if a.reading.names[place]]
    ours = [place for place in b.places if b.reading.names[place]]
    if not theirs or not ours:
        named, other = (theirs, b) if theirs else (ours, a)
        if named and setting.alone and quantities(other) and len(other.content) <= WORD and setting.near >= NEAR:
            return a.said, b.said
        return None
    wordy = max(len(a.content), len(b.content)) > NAME or min(setting.near, setting.tight) < SURROUNDED
    if wordy and not (is_name(a) and is_name(b) and is_list(a) == is_list(b)):
        return None
    sure = max(a.reading.names[place] for place in theirs) + max(b.reading.names[place] for place in ours)
    if sure < 3 and not (_is_known(a, theirs, setting) or _is_known(b, ours, setting)):
        return None
    keys_a, keys_b = [a.reading.keys[p] for p in theirs], [b.reading.keys[p] for p in ours]
    if one_name(keys_a, keys_b) or one_name([a.reading.keys[p] for p in a.places], keys_b):
        return None
    return said_of(a.reading, theirs), said_of(b.reading, ours)


def _is_known(run: Run, places: Sequence[int], setting: Setting) -> bool:
    return any(run.reading.names[place] == 2 or setting.known("^" + run.reading.keys[place]) for place in places)


def swaps_letters(a: Run, b: Run, edit: Edit, setting: Setting) -> bool:
    """Tell a swapped word from a paraphrase in a script without spaces or capitals."""
    if not (may_name(a) and may_name(b)) or not (is_lettered(a) or is_lettered(b)):
        return False
    one, other = letters_of(a), letters_of(b)
    if len(one) == len(other) == 1 and one in _NUMERALS and other in _NUMERALS:
        return True
    if setting.near < (ALONE if setting.alone else VERY_NEAR) or not a.content or not b.content:
        return False
    if (cues.is_cue(tuple(one)) and cues.is_cue(tuple(other))) or are_akin(a, b, edit):
        return False
    if len(other) >= 2 and setting.known(other) and not cues.is_cue(tuple(other)):
        return True
    alike = len(set(one) & set(other)) / min(len(one), len(other))
    if alike > 1 / 3:
        return False  # words that share a letter are synonyms more often than names
    if max(len(one), len(other)) > 2 and min(len(a.content), len(b.content)) > 1:
        return True  # as long as only names are
    wide_one, wide_other = _word(a.reading, edit[0], edit[1]), _word(b.reading, edit[2], edit[3])
    return looks_like_name(one, wide_one) or looks_like_name(other, wide_other)


def _word(reading: Reading, first: int, last: int) -> str:
    return "".join(token.key for token in reading.tokens[max(0, first - 1) : last + 2] if token.kind == "letter")


def are_akin(a: Run, b: Run, edit: Edit) -> bool:
    """Tell whether two runs, with or without what may be left out, are near in meaning."""
    return cues.akin(a.reading.keys, b.reading.keys, edit) or cues.akin(
        a.reading.keys, b.reading.keys, (*span_of(a), *span_of(b))
    )
