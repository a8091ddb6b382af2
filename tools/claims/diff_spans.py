"""Spans of tokens in which two aligned sentences differ, what kind of span each is, and which replaces which."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from text.stop_words import DROPPABLE, FUNCTION_LETTERS, FUNCTION_WORDS, VIETNAMESE_FUNCTION_WORDS
from tools.claims import cues
from tools.claims.claim_tokens import Token
from tools.claims.proper_names import letter_of_name, one_name
from tools.claims.sentence_parsing import ParsedSentence, accompanies, is_vietnamese

LARGEST_ALIGNMENT = 90_000  # cells of the table that an alignment may need at worst; beyond it nothing is aligned

Edit = tuple[int, int, int, int]


def edits(one: Sequence[str], other: Sequence[str]) -> list[Edit] | None:
    """Give the runs in which two sequences differ, as bounds in both; None where they are too long to align."""
    head = 0
    while head < min(len(one), len(other)) and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(other)) - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    a, b = one[head : len(one) - tail], other[head : len(other) - tail]
    if not a and not b:
        return []
    if len(a) * len(b) > LARGEST_ALIGNMENT:
        return None
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(i + head, j + head, k + head, m + head) for tag, i, j, k, m in blocks if tag != "equal"]


def common_in_order(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Count the longest common subsequence, bit-parallel (Hyyrö, "Bit-parallel LCS-length computation", 2004)."""
    places: dict[Hashable, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for item in other:
        match = places.get(item)
        if match:
            shared = row & match
            row = ((row + shared) | (row - shared)) & full
    return len(one) - row.bit_count()


WORD = 2  # content tokens, at most, of a word in a script with spaces
LETTERS = 4  # and letters in one without


@dataclass(frozen=True, slots=True)
class DiffSpan:
    """A run of tokens that has no equal opposite, without what may be left out anyway."""

    reading: ParsedSentence
    places: tuple[int, ...]

    @property
    def tokens(self) -> list[Token]:
        return [self.reading.tokens[place] for place in self.places]

    @property
    def keys(self) -> list[str]:
        return [self.reading.keys[place] for place in self.places]

    @property
    def content(self) -> list[int]:
        return [place for place in self.places if is_content(self.reading.tokens[place])]

    @property
    def said(self) -> str:
        return self.reading.said(self.places[0], self.places[-1] + 1) if self.places else ""


def is_content(token: Token) -> bool:
    """Tell a token that says something from one that holds a sentence together."""
    if token.kind == "letter":
        return token.key not in FUNCTION_LETTERS
    return token.key not in FUNCTION_WORDS or (
        token.capital and token.start > 0 and token.key in VIETNAMESE_FUNCTION_WORDS
    )


def span_of(run: DiffSpan) -> tuple[int, int]:
    """Give where a run begins and ends in its sentence."""
    return (run.places[0], run.places[-1] + 1) if run.places else (0, 0)


def movable(run: DiffSpan) -> list[str]:
    """Give what of a run can be found again elsewhere: words, and in scripts without spaces the run as a whole."""
    if is_lettered(run):
        joined = letters_of(run)
        return [joined] if len(joined) > 1 and run.content else []
    return [run.reading.keys[place] for place in run.content]


def without(run: DiffSpan, moved: Counter[str]) -> DiffSpan:
    """Take out of a run what was only put elsewhere."""
    if is_lettered(run):
        joined = letters_of(run)
        if moved[joined] > 0:
            moved[joined] -= 1
            return DiffSpan(run.reading, ())
        return run
    kept = []
    for place in run.places:
        key = run.reading.keys[place]
        if moved[key] > 0:
            moved[key] -= 1
        else:
            kept.append(place)
    return DiffSpan(run.reading, tuple(kept))


def is_lettered(run: DiffSpan) -> bool:
    """Tell a run of a script without spaces."""
    return bool(run.places) and all(token.kind == "letter" for token in run.tokens)


def may_name(run: DiffSpan) -> bool:
    """Tell whether a run of letters, or of names in Latin ones, may be a name."""
    return bool(run.places) and all(token.kind == "letter" or token.capital for token in run.tokens)


def letters_of(run: DiffSpan) -> str:
    """Give the tokens of a run as one string."""
    return "".join(token.key for token in run.tokens)


def is_one_word(run: DiffSpan) -> bool:
    """Tell whether a run is as long as one word is, and says something."""
    if not run.content or any(token.kind not in ("word", "letter") for token in run.tokens):
        return False
    if len(run.places) == 1 and (is_lettered(run) or is_vietnamese(run.reading.folded)):
        return _named_letter(run)  # else one letter or syllable is a part of a word, and of most synonyms
    return len(run.places) <= (LETTERS if is_lettered(run) else WORD)


def _named_letter(run: DiffSpan) -> bool:
    """Tell a single letter that belongs to a name by the look of it."""
    place, tokens = run.places[0], run.reading.tokens
    after = tokens[place + 1].key if place + 1 < len(tokens) else ""
    return is_lettered(run) and letter_of_name(tokens[place].key, after)


def word_akin(a: DiffSpan, b: DiffSpan) -> bool:
    """Tell whether a word of one run is near to one of another; a syllable of Vietnamese is no word."""
    return any(one.isascii() and cues.akin((one,), (other,), (0, 1, 0, 1)) for one in a.keys for other in b.keys)


def look_alike(a: DiffSpan, b: DiffSpan) -> bool:
    """Tell whether two runs share a letter of a script without spaces, or the beginning of a word of another.

    A name and its initials are alike, too.
    """
    if one_name(a.keys, b.keys):
        return True
    if is_lettered(a) and is_lettered(b):
        return not set(letters_of(a)).isdisjoint(letters_of(b))
    theirs = {cues.stem(key)[:3] for key in a.keys}
    return any(cues.stem(key)[:3] in theirs for key in b.keys)


def is_name(run: DiffSpan) -> bool:
    """Tell whether a run is one name, at most with a word for what it names; a clause or a list is none."""
    others = [token for token in run.tokens if is_content(token) and not token.capital]
    return not any(token.key.isascii() for token in others) and len(others) <= 1


def is_list(run: DiffSpan) -> bool:
    """Tell a run that lists several things."""
    return any(mark in run.said for mark in (", ", ";", "、"))


def turns(run: DiffSpan) -> bool:
    """Tell whether a run holds a negation."""
    return any(run.reading.negates[place] for place in run.places)


def count_negations(run: DiffSpan) -> int:
    """Count the negations of a run."""
    return sum(run.reading.negates[place] for place in run.places)


def little_else(run: DiffSpan) -> bool:
    """Tell whether a run says little but "not": at most one word more, as in "did not win"."""
    return (
        sum(not run.reading.negates[place] and not accompanies(run.reading.tokens[place]) for place in run.places) <= 1
    )


def is_frame(run: DiffSpan) -> bool:
    """Tell a clause cut off before a claim ("It is not true that"), whose effect on the rest only a reader can tell."""
    return run.places[0] == 0 and len(run.places) > 3


Pair = tuple[DiffSpan, DiffSpan, Edit]


def pairs_of(source: ParsedSentence, claim: ParsedSentence, found: Sequence[Edit]) -> list[Pair]:
    """Give the runs of each edit that says another thing, the source's first."""
    return [pair for edit in found if (pair := _pair(source, claim, edit)) is not None]


def coalesced(source: ParsedSentence, found: list[Edit]) -> list[Edit]:
    """Join edits that one equal letter parts: two names of a script without spaces may share one by chance."""
    joined: list[Edit] = []
    for edit in found:
        if joined and edit[0] - joined[-1][1] == 1 and edit[2] - joined[-1][3] == 1:
            last = joined[-1]
            if all(token.kind == "letter" for token in source.tokens[last[0] : edit[1]]):
                joined[-1] = (last[0], edit[1], last[2], edit[3])
                continue
        joined.append(edit)
    return joined


def _pair(source: ParsedSentence, claim: ParsedSentence, edit: Edit) -> Pair | None:
    """Give both runs of an edit, or None where they say the same."""
    i, j, k, m = edit
    a, b = _run(source, i, j), _run(claim, k, m)
    if not a.places and not b.places:
        return None
    if [key.rstrip("?") for key in a.keys] == [key.rstrip("?") for key in b.keys]:
        return None
    if cues.same(source.keys, claim.keys, edit):
        return None
    if (a.places and b.places) and cues.same(source.keys, claim.keys, (*span_of(a), *span_of(b))):
        return None
    return a, b, edit


def _run(reading: ParsedSentence, first: int, last: int) -> DiffSpan:
    return DiffSpan(reading, tuple(place for place in range(first, last) if reading.keys[place] not in DROPPABLE))


def without_moved(pairs: Sequence[Pair]) -> list[Pair] | None:
    """Take out what was only put elsewhere; None where nothing was."""
    lost = Counter(key for a, _, _ in pairs for key in movable(a))
    gained = Counter(key for _, b, _ in pairs for key in movable(b))
    common = lost & gained
    if not common:
        return None
    kept: list[Pair] = []
    left, right = common.copy(), common.copy()
    for a, b, edit in pairs:
        a, b = without(a, left), without(b, right)
        if a.content or b.content or any(map(turns, (a, b))):
            kept.append((a, b, edit))
    return kept
