"""Compare a claim with the source sentence closest to it, token by token, and say what became of what.

Where two sentences are nearly the same, what differs decides: a number for a number, a name for a name, a word for its
opposite is a conflict; another notation or a phrase of the same meaning is none; anything else proves nothing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tools.claims import cues
from tools.claims.alignment import Edit, edits
from tools.claims.bounds import bounded, bounds_of, turned_by
from tools.claims.chinese_names import letter_of_name, looks_like_name
from tools.claims.dates import dates_agree, parts_of
from tools.claims.function_words import DROPPABLE, FUNCTION_LETTERS, FUNCTION_WORDS, VIETNAMESE_FUNCTION_WORDS
from tools.claims.names import one_name
from tools.claims.negation import accompanies
from tools.claims.numerals import ZH_DIGITS, ZH_SCALES
from tools.claims.readings import Reading, is_vietnamese
from tools.claims.tokens import Token

Finding = Literal["same", "part", "order", "differs", "conflict"]

NEAR = 0.55  # share of a claim's content that must stand in a sentence before a difference is called a conflict
VERY_NEAR = 0.75
SURROUNDED = 0.65  # and what a name stands in, before a run that holds more than a name is one
NAME = 5  # content tokens of such a run
SURE = 0.8
LOPSIDED = 3  # content tokens by which one run may be longer where the sentences differ elsewhere too
ALONE = 0.45  # enough where the claim is the sentence but for one run
LONGEST_RUN = 8  # content tokens; a longer run that was replaced is another wording, not a swapped word
FEWEST = 5  # tokens of a claim in which one swapped word can be told
MOST_ADDED = 4  # tokens of a phrase that bounds a quantity
WORD = 2  # content tokens, at most, of a word in a script with spaces
LETTERS = 4  # and letters in one without
_SMALL = {"second": 2.0, "one": 1.0, "một": 1.0, "năm": 5.0, "zero": 0.0}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a claim is to a sentence. ``near`` is the share in [0, 1] of its content that stands there in order.

    ``swapped`` names the one word of an otherwise equal claim that stands for another and is no known synonym of it.
    """

    finding: Finding
    near: float
    reasons: tuple[str, ...] = ()
    swapped: str | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of tokens that has no equal opposite, without what may be left out anyway."""

    reading: Reading
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


def compare(
    claim: Reading,
    source: Reading,
    begins: int = 0,
    known: Callable[[str], bool] = lambda run: False,
    *,
    copies: bool = False,
) -> Comparison:
    """Compare a claim, from its token ``begins`` on, with a sentence.

    ``known`` tells whether a run of letters stands somewhere in the evidence: a word swapped in from there is a name
    more often than a paraphrase is. ``copies`` says that both are source sentences: nobody copies a sentence and
    puts one word for another in it who does not mean another thing.
    """
    keys = claim.keys[begins:]
    found = edits(source.keys, keys)
    content = sum(map(is_content, claim.tokens[begins:]))
    if found is None:
        return Comparison("differs", 0.0)
    fresh = sum(is_content(claim.tokens[place + begins]) for edit in found for place in range(edit[2], edit[3]))
    near = 1 - fresh / content if content else float(not found)
    shifted = [(i, j, k + begins, m + begins) for i, j, k, m in found]
    return _Difference(claim, source, near, known, copies=copies).judge(shifted)


class _Difference:
    """The differences of one claim and one sentence, sorted into what they mean."""

    def __init__(
        self, claim: Reading, source: Reading, near: float, known: Callable[[str], bool], *, copies: bool
    ) -> None:
        self.claim, self.source, self.near, self.known, self.copies = claim, source, near, known, copies
        self.conflicts: list[str] = []
        self.added: list[_Run] = []
        self.dropped: list[_Run] = []
        self.replaced = 0
        self.moved = False
        self.alone = False
        self.tight = 0.0

    def judge(self, found: list[Edit]) -> Comparison:
        pairs = [pair for edit in found if (pair := self._pair(edit)) is not None]
        joined = self._coalesced([edit for _, _, edit in pairs])
        if len(joined) < len(pairs):
            pairs = [pair for edit in joined if (pair := self._pair(edit)) is not None]
        self.tight = self._tightness(found)
        pairs = self._without_moved(pairs)
        self.alone = len(pairs) == 1 and len(self.claim.tokens) - len(pairs[0][1].places) >= 3
        for a, b, edit in pairs:
            self._sort(a, b, edit)
        self._leftovers()
        self._polarity(pairs)
        close = self.near >= NEAR or (self.alone and self.replaced == 1 and self.near >= 0.3)
        if self.conflicts and close:
            return Comparison("conflict", self.near, tuple(dict.fromkeys(self.conflicts)))
        if pairs and (self.replaced or self.added or self.conflicts):
            return Comparison("differs", self.near, swapped=self._swapped(pairs))
        if self.moved:
            return Comparison("order", self.near)
        if self.dropped:
            return Comparison("part", self.near)
        if self.source.asks != self.claim.asks:
            return Comparison("differs", self.near)
        return Comparison("same", self.near)

    def _tightness(self, found: Sequence[Edit]) -> float:
        """Give the share of the sentence's content that stands in the claim in order."""
        content = sum(map(is_content, self.source.tokens))
        lost = sum(is_content(self.source.tokens[place]) for edit in found for place in range(edit[0], edit[1]))
        return 1 - lost / content if content else 0.0

    def _swapped(self, pairs: Sequence[tuple[_Run, _Run, Edit]]) -> str | None:
        """Tell one word, in a claim that says just what the sentence says, that stands for a word of another sense."""
        if len(pairs) != 1 or self.moved or self.near < VERY_NEAR or len(self.claim.tokens) < FEWEST:
            return None
        a, b, edit = pairs[0]
        if not (_one_word(a) and _one_word(b)) or _alike(a, b) or self._akin(a, b, edit) or _word_akin(a, b):
            return None
        return f"the answer says {b.said} where the source says {a.said}"

    def _coalesced(self, found: list[Edit]) -> list[Edit]:
        """Join edits that one equal letter parts: two names of a script without spaces may share one by chance."""
        joined: list[Edit] = []
        for edit in found:
            if joined and edit[0] - joined[-1][1] == 1 and edit[2] - joined[-1][3] == 1:
                last = joined[-1]
                if all(token.kind == "letter" for token in self.source.tokens[last[0] : edit[1]]):
                    joined[-1] = (last[0], edit[1], last[2], edit[3])
                    continue
            joined.append(edit)
        return joined

    def _pair(self, edit: Edit) -> tuple[_Run, _Run, Edit] | None:
        """Give both runs of an edit, or None where they say the same."""
        i, j, k, m = edit
        a, b = self._run(self.source, i, j), self._run(self.claim, k, m)
        if not a.places and not b.places:
            return None
        if [key.rstrip("?") for key in a.keys] == [key.rstrip("?") for key in b.keys]:
            return None
        if cues.same(self.source.keys, self.claim.keys, edit):
            return None
        if (a.places and b.places) and cues.same(self.source.keys, self.claim.keys, (*_bounds(a), *_bounds(b))):
            return None
        return a, b, edit

    @staticmethod
    def _run(reading: Reading, first: int, last: int) -> _Run:
        return _Run(reading, tuple(place for place in range(first, last) if reading.keys[place] not in DROPPABLE))

    def _without_moved(self, pairs: list[tuple[_Run, _Run, Edit]]) -> list[tuple[_Run, _Run, Edit]]:
        """Take out what was only put elsewhere; the claim then has the right words in another order."""
        lost = Counter(key for a, _, _ in pairs for key in _movable(a))
        gained = Counter(key for _, b, _ in pairs for key in _movable(b))
        common = lost & gained
        if not common:
            return pairs
        self.moved = True
        kept: list[tuple[_Run, _Run, Edit]] = []
        left, right = common.copy(), common.copy()
        for a, b, edit in pairs:
            a, b = _less(a, left), _less(b, right)
            if a.content or b.content or any(map(_turns, (a, b))):
                kept.append((a, b, edit))
        return kept

    def _sort(self, a: _Run, b: _Run, edit: Edit) -> None:
        if a.places and b.places:
            self.replaced += 1
            self._replaced(a, b, edit)
        elif b.places:
            if _counted(b) and b.tokens[0].kind == "unit" and b.tokens[0].key not in _LOOSE_UNITS and edit[0] > 0:
                self._conflict(a.reading.said(edit[0] - 1, edit[0]), _with_number(b.reading, b.places[0]))
            self.added.append(b)
            self._lengthened(b, edit)
        else:
            self.dropped.append(a)
            self._lengthened(a, edit)

    def _lengthened(self, run: _Run, edit: Edit) -> None:
        """Tell a phrase from a longer one that excludes it: "only" and "not only", "when" and "before when"."""
        if self.near < VERY_NEAR or len(run.places) > MOST_ADDED or _turns(run):
            return
        if turned_by(run) or (self.tight >= NEAR and bounded(run)):
            self._conflict(*(_context(*side) for side in ((self.source, *edit[:2]), (self.claim, *edit[2:]))))
        elif min(self.tight, self.near) < VERY_NEAR or len(run.places) > WORD:
            return
        elif cues.opposed(self.source.keys, self.claim.keys, edit):
            self._conflict(*(_context(*side) for side in ((self.source, *edit[:2]), (self.claim, *edit[2:]))))

    def _replaced(self, a: _Run, b: _Run, edit: Edit) -> None:
        if len(a.content) > LONGEST_RUN or len(b.content) > LONGEST_RUN:
            self.added.append(b)
            self.dropped.append(a)
            return
        before = len(self.conflicts)
        if self.tight >= NEAR or abs(len(a.content) - len(b.content)) <= LOPSIDED:
            self._numbers(a, b)
        self._names(a, b)
        if len(self.conflicts) == before and (
            cues.opposed(self.source.keys, self.claim.keys, edit)
            or cues.opposed(self.source.keys, self.claim.keys, (*_bounds(a), *_bounds(b)))
        ):
            if _lettered(a) and _lettered(b):
                self._conflict(self._wide(self.source, edit[0], edit[1]), self._wide(self.claim, edit[2], edit[3]))
            else:
                self._conflict(a.said, b.said)
        if len(self.conflicts) == before and self.near >= VERY_NEAR and self.tight >= NEAR and self._rebounded(a, b):
            self._conflict(_context(self.source, *edit[:2]), _context(self.claim, *edit[2:]))
        if len(self.conflicts) == before and self.alone and self.near >= VERY_NEAR and self._decided(a, b, edit):
            self._conflict(a.said, b.said)
        if len(self.conflicts) == before and self._letters(a, b, edit):
            self._conflict(self._wide(self.source, edit[0], edit[1]), self._wide(self.claim, edit[2], edit[3]))
        if len(self.conflicts) == before and self.copies and self._another_word(a, b):
            self._conflict(a.said, b.said)
        self.added.append(b)
        self.dropped.append(a)

    @staticmethod
    def _rebounded(a: _Run, b: _Run) -> bool:
        """Tell whether a bound, or a word of a closed class within a short run, gave way to its opposite."""
        if bounds_of(a) != bounds_of(b) and (bounded(a) or bounded(b)):
            return True
        return max(len(a.places), len(b.places)) <= LETTERS and cues.opposed_within(a.keys, b.keys)

    def _decided(self, a: _Run, b: _Run, edit: Edit) -> bool:
        """Tell whether a quantity, order or comparison gave way to one or two words not known to mean it."""
        return len(b.places) <= 2 and not _lettered(b) and cues.decides(a.keys) and not self._akin(a, b, edit)

    def _akin(self, a: _Run, b: _Run, edit: Edit) -> bool:
        return cues.akin(self.source.keys, self.claim.keys, edit) or cues.akin(
            self.source.keys, self.claim.keys, (*_bounds(a), *_bounds(b))
        )

    def _another_word(self, a: _Run, b: _Run) -> bool:
        """Tell whether a copy of a sentence differs in one word, which no other form of the word stands for."""
        if not self.alone or self.near < VERY_NEAR or not a.content or not b.content:
            return False
        if _lettered(a) and _lettered(b):
            return not set(_joined(a)) & set(_joined(b))
        theirs = {cues.stem(a.reading.keys[place])[:4] for place in a.places}
        return theirs.isdisjoint(cues.stem(b.reading.keys[place])[:4] for place in b.places)

    def _conflict(self, source: str, claim: str) -> None:
        self.conflicts.append(f"the source says {source}, the answer says {claim}")

    def _numbers(self, a: _Run, b: _Run) -> None:
        theirs, ours = _quantities(a), _quantities(b)
        for one in list(theirs):
            match = next((other for other in ours if _equal(a.reading.tokens[one], b.reading.tokens[other])), None)
            if match is not None:
                theirs.remove(one)
                ours.remove(match)
        for one, other in zip(theirs, ours, strict=False):
            if _comparable(a.reading.tokens[one], b.reading.tokens[other]):
                self._conflict(*_with_units((a.reading, one), (b.reading, other)))
        units_a = [place for place in a.places if a.reading.tokens[place].kind == "unit"]
        units_b = [place for place in b.places if b.reading.tokens[place].kind == "unit"]
        if units_a and units_b and {a.reading.keys[p] for p in units_a}.isdisjoint(b.reading.keys[p] for p in units_b):
            self._conflict(_with_number(a.reading, units_a[0]), _with_number(b.reading, units_b[0]))
        elif bool(units_a) != bool(units_b) and _counted(a) and _counted(b):
            unit = a.reading.keys[units_a[0]] if units_a else b.reading.keys[units_b[0]]
            if unit not in _LOOSE_UNITS:
                self._conflict(_with_number(a.reading, a.places[0]), _with_number(b.reading, b.places[0]))
        for left, right in zip(a.tokens, b.tokens, strict=False):
            if _figure(left) and _figure(left) == _figure(right) and left.key != right.key:
                self._conflict(a.said, b.said)

    def _names(self, a: _Run, b: _Run) -> None:
        theirs = [place for place in a.places if a.reading.names[place]]
        ours = [place for place in b.places if b.reading.names[place]]
        if not theirs or not ours:
            named, other = (theirs, b) if theirs else (ours, a)
            if named and self.alone and _quantities(other) and len(other.content) <= WORD and self.near >= NEAR:
                self._conflict(a.said, b.said)
            return
        wordy = max(len(a.content), len(b.content)) > NAME or min(self.near, self.tight) < SURROUNDED
        if wordy and not (_only_named(a) and _only_named(b) and _lists(a) == _lists(b)):
            return
        sure = max(a.reading.names[place] for place in theirs) + max(b.reading.names[place] for place in ours)
        if sure < 3 and not (self._known_name(a, theirs) or self._known_name(b, ours)):
            return
        keys_a, keys_b = [a.reading.keys[p] for p in theirs], [b.reading.keys[p] for p in ours]
        if one_name(keys_a, keys_b) or one_name([a.reading.keys[p] for p in a.places], keys_b):
            return
        self._conflict(_span(a.reading, theirs), _span(b.reading, ours))

    def _known_name(self, run: _Run, places: Sequence[int]) -> bool:
        return any(run.reading.names[place] == 2 or self.known("^" + run.reading.keys[place]) for place in places)

    def _letters(self, a: _Run, b: _Run, edit: Edit) -> bool:
        """Tell a swapped word from a paraphrase in a script without spaces or capitals."""
        if not (_nameable(a) and _nameable(b)) or not (_lettered(a) or _lettered(b)):
            return False
        one, other = _joined(a), _joined(b)
        if len(one) == len(other) == 1 and one in _NUMERALS and other in _NUMERALS:
            return True
        if self.near < (ALONE if self.alone else VERY_NEAR) or not a.content or not b.content:
            return False
        if (cues.is_cue(tuple(one)) and cues.is_cue(tuple(other))) or self._akin(a, b, edit):
            return False
        if len(other) >= 2 and self.known(other) and not cues.is_cue(tuple(other)):
            return True
        alike = len(set(one) & set(other)) / min(len(one), len(other))
        if alike > 1 / 3:
            return False  # words that share a letter are synonyms more often than names
        if max(len(one), len(other)) > 2 and min(len(a.content), len(b.content)) > 1:
            return True  # as long as only names are
        wide_one, wide_other = self._word(self.source, edit[0], edit[1]), self._word(self.claim, edit[2], edit[3])
        return looks_like_name(one, wide_one) or looks_like_name(other, wide_other)

    @staticmethod
    def _word(reading: Reading, first: int, last: int) -> str:
        return "".join(token.key for token in reading.tokens[max(0, first - 1) : last + 2] if token.kind == "letter")

    @staticmethod
    def _wide(reading: Reading, first: int, last: int) -> str:
        return _context(reading, first, last) if last - first == 1 else reading.said(first, last)

    def _leftovers(self) -> None:
        """Match a number that was dropped in one place with one that was added in another."""
        if self.conflicts or min(self.near, self.tight) < NEAR:
            return
        lost = [(run.reading, place) for run in self.dropped for place in _quantities(run)]
        gained = [(run.reading, place) for run in self.added for place in _quantities(run)]
        lost = [one for one in lost if not any(_same_quantity(one, other) for other in gained)]
        gained = [one for one in gained if not any(_same_quantity(one, other) for other in lost)]
        if len(lost) == len(gained) == 1 and _comparable(
            lost[0][0].tokens[lost[0][1]], gained[0][0].tokens[gained[0][1]]
        ):
            self._conflict(*_with_units(lost[0], gained[0]))

    def _polarity(self, pairs: Sequence[tuple[_Run, _Run, Edit]]) -> None:
        if self.near < SURE and self.tight < NEAR:
            return
        theirs = [run for run, _, _ in pairs if _turns(run) and _little_else(run)]
        ours = [run for _, run, _ in pairs if _turns(run) and _little_else(run)]
        if any(_turns(run) for pair in pairs if not self._cut(pair) for run in pair[:2] if run not in (*theirs, *ours)):
            return
        if theirs and ours:
            if len(pairs) == 1 and (_count_negations(theirs[0]) + _count_negations(ours[0])) % 2:
                self._conflict(_around(theirs[0]), _around(ours[0]))
            return
        theirs = [run for run in theirs if not _frames(run)]
        for run in theirs:
            if _count_negations(run) % 2:
                self.conflicts.append(f"the source says {_around(run)}, the answer leaves that out")
        for run in ours:
            if _count_negations(run) % 2:
                self.conflicts.append(f"the answer says {_around(run)}, the source does not")

    def _cut(self, pair: tuple[_Run, _Run, Edit]) -> bool:
        """Tell the beginning or the end of a sentence that a claim leaves off."""
        a, b, edit = pair
        return not b.places and len(a.places) > WORD and (edit[0] == 0 or edit[1] == len(self.source.tokens))


_LOOSE_UNITS = frozenset(("u:person", "u:times", "u:age"))
_NUMERALS = frozenset((*ZH_DIGITS, *ZH_SCALES))


def _bounds(run: _Run) -> tuple[int, int]:
    return (run.places[0], run.places[-1] + 1) if run.places else (0, 0)


def _movable(run: _Run) -> list[str]:
    """Give what of a run can be found again elsewhere: words, and in scripts without spaces the run as a whole."""
    if _lettered(run):
        joined = _joined(run)
        return [joined] if len(joined) > 1 and run.content else []
    return [run.reading.keys[place] for place in run.content]


def _less(run: _Run, moved: Counter[str]) -> _Run:
    if _lettered(run):
        joined = _joined(run)
        if moved[joined] > 0:
            moved[joined] -= 1
            return _Run(run.reading, ())
        return run
    kept = []
    for place in run.places:
        key = run.reading.keys[place]
        if moved[key] > 0:
            moved[key] -= 1
        else:
            kept.append(place)
    return _Run(run.reading, tuple(kept))


def _lettered(run: _Run) -> bool:
    return bool(run.places) and all(token.kind == "letter" for token in run.tokens)


def _nameable(run: _Run) -> bool:
    """Tell whether a run of letters, or of names in Latin ones, may be a name."""
    return bool(run.places) and all(token.kind == "letter" or token.capital for token in run.tokens)


def _joined(run: _Run) -> str:
    return "".join(token.key for token in run.tokens)


def _quantities(run: _Run) -> list[int]:
    return [
        place
        for place in run.places
        if _value(run.reading.tokens[place]) is not None or run.reading.tokens[place].kind in ("number", "date")
    ]


def _value(token: Token) -> float | None:
    return token.value if token.value is not None else _SMALL.get(token.key)


def _equal(one: Token, other: Token) -> bool:
    """Tell whether two quantities agree; a date agrees with one that names fewer parts."""
    if one.key == other.key:
        return True
    if one.kind == "date" and other.kind == "date":
        return dates_agree(one.key, other.key)
    if one.kind == "date" or other.kind == "date":
        date, number = (one, other) if one.kind == "date" else (other, one)
        return number.value is not None and number.value in parts_of(date.key)
    a, b = _value(one), _value(other)
    return a is not None and a == b


def _comparable(one: Token, other: Token) -> bool:
    """Tell whether one quantity for the other is a conflict: not where "one" is rather an article."""
    return (one.kind in ("number", "date") and other.kind in ("number", "date")) or (
        _value(one) != _value(other) and {one.kind, other.kind} & {"number"} != set()
    )


def _same_quantity(one: tuple[Reading, int], other: tuple[Reading, int]) -> bool:
    return _equal(one[0].tokens[one[1]], other[0].tokens[other[1]])


def _with_units(one: tuple[Reading, int], other: tuple[Reading, int]) -> tuple[str, str]:
    """Give two quantities as they were written, with what they count where both count the same."""
    after = [reading.tokens[place + 1] if place + 1 < len(reading.tokens) else None for reading, place in (one, other)]
    alike = after[0] is not None and after[1] is not None and after[0].key == after[1].key and is_content(after[0])
    counts = alike and not any(_of_time(reading, place) for reading, place in (one, other))
    said = [
        _beside(reading, place, place + 1, after=int(counts or (unit is not None and unit.kind in ("unit", "number"))))
        for (reading, place), unit in zip((one, other), after, strict=True)
    ]
    return said[0], said[1]


def _of_time(reading: Reading, place: int) -> bool:
    """Tell a date or year, which counts nothing."""
    token, said = reading.tokens[place], reading.said(place, place + 1)
    if token.kind == "date" or not said[-1].isalnum() or said[-1] in "年月日号":
        return True
    return len(said) == 4 and token.value is not None and 1000 <= token.value <= 2200


def _beside(reading: Reading, first: int, last: int, *, before: int = 0, after: int = 0) -> str:
    """Give the words of a run with some around it, as far as no punctuation parts them."""
    for _ in range(before):
        if first > 0 and _adjoins(reading, first - 1):
            first -= 1
    for _ in range(after):
        if last < len(reading.tokens) and _adjoins(reading, last - 1):
            last += 1
    return reading.said(first, last)


def _adjoins(reading: Reading, place: int) -> bool:
    between = reading.folded[reading.tokens[place].end : reading.tokens[place + 1].start]
    return between in ("", " ", "-")


def _with_number(reading: Reading, place: int) -> str:
    return reading.said(max(0, place - 1), place + 1)


def _counted(run: _Run) -> bool:
    """Tell whether a run says what a number before it counts."""
    first = run.places[0]
    return first > 0 and run.reading.tokens[first - 1].kind == "number" and is_content(run.reading.tokens[first])


def _figure(token: Token) -> str:
    """Give a word that holds digits without them ("n6", "boeing747"); empty where there are none."""
    bare = "".join("0" if sign.isdigit() else sign for sign in token.key)
    return bare if token.kind == "word" and bare != token.key else ""


def _one_word(run: _Run) -> bool:
    """Tell whether a run is as long as one word is, and says something."""
    if not run.content or any(token.kind not in ("word", "letter") for token in run.tokens):
        return False
    if len(run.places) == 1 and (_lettered(run) or is_vietnamese(run.reading.folded)):
        return _named_letter(run)  # else one letter or syllable is a part of a word, and of most synonyms
    return len(run.places) <= (LETTERS if _lettered(run) else WORD)


def _named_letter(run: _Run) -> bool:
    """Tell a single letter that belongs to a name by the look of it."""
    place, tokens = run.places[0], run.reading.tokens
    after = tokens[place + 1].key if place + 1 < len(tokens) else ""
    return _lettered(run) and letter_of_name(tokens[place].key, after)


def _word_akin(a: _Run, b: _Run) -> bool:
    """Tell whether a word of one run is near to one of another; a syllable of Vietnamese is no word."""
    return any(one.isascii() and cues.akin((one,), (other,), (0, 1, 0, 1)) for one in a.keys for other in b.keys)


def _alike(a: _Run, b: _Run) -> bool:
    """Tell whether two runs share a letter of a script without spaces, or the beginning of a word of another.

    A name and its initials are alike, too.
    """
    if one_name(a.keys, b.keys):
        return True
    if _lettered(a) and _lettered(b):
        return not set(_joined(a)).isdisjoint(_joined(b))
    theirs = {cues.stem(key)[:3] for key in a.keys}
    return any(cues.stem(key)[:3] in theirs for key in b.keys)


def _only_named(run: _Run) -> bool:
    """Tell whether a run is one name, at most with a word for what it names; a clause or a list is none."""
    others = [token for token in run.tokens if is_content(token) and not token.capital]
    return not any(token.key.isascii() for token in others) and len(others) <= 1


def _lists(run: _Run) -> bool:
    return any(mark in run.said for mark in (", ", ";", "、"))


def _context(reading: Reading, first: int, last: int) -> str:
    return _beside(reading, first, last, before=1, after=1)


def _span(reading: Reading, places: Sequence[int]) -> str:
    return reading.said(places[0], places[-1] + 1)


def _turns(run: _Run) -> bool:
    return any(run.reading.negates[place] for place in run.places)


def _count_negations(run: _Run) -> int:
    return sum(run.reading.negates[place] for place in run.places)


def _little_else(run: _Run) -> bool:
    """Tell whether a run says little but "not": at most one word more, as in "did not win"."""
    return (
        sum(not run.reading.negates[place] and not accompanies(run.reading.tokens[place]) for place in run.places) <= 1
    )


def _frames(run: _Run) -> bool:
    """Tell a clause cut off before a claim ("It is not true that"), whose effect on the rest only a reader can tell."""
    return run.places[0] == 0 and len(run.places) > 3


def _around(run: _Run) -> str:
    beside = 2 if run.tokens[0].kind == "letter" else 1
    return f'"{_beside(run.reading, run.places[0], run.places[-1] + 1, before=beside, after=beside)}"'
