"""Detect what two sentences that are otherwise one statement contradict each other in.

Hard evidence only: another number, unit, date or name in the same place, a "not" and nothing else put in or left out,
or a word of a closed class, such as "before" and "after", for another. All else that differs is wording, on which code
has no say: a word may be the opposite of another and the sentence true ("is not open", "is closed").
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from graph.reasons import Reason
from text.numbers import ZH_DIGITS, ZH_SCALES
from tools.claims.alignment import (
    Edit,
    Pair,
    Run,
    coalesced,
    edits,
    is_content,
    negates,
    pairs_of,
    share_outside,
    without_moved,
)
from tools.claims.claim_tokens import Token
from tools.claims.lexicon import exclude_each_other, is_stronger, stem
from tools.claims.quantities import dates_agree, dimension, parts_of, unit_named
from tools.claims.roughly import is_difference, may_mean, share_named
from tools.claims.sentence_parsing import ParsedSentence, accompanies, looks_like_name, one_name, without_courtesy

Finding = Literal["same", "part", "order", "differs", "conflict"]

NEAR = 0.55  # share of a claim's content that must stand in a sentence, in order, for a difference to be a conflict
SAME = 0.75  # and of both in each other, where they must be one statement
WHOLE = 0.9  # of a claim, without the number that is another, in a source that says much more
NEAR_NAME = 0.45  # enough for a name in a script without capitals where the two differ in nothing else
LOPSIDED = 3  # content tokens by which one run may be longer where the sentences differ elsewhere too
LONGEST_RUN = 8  # content tokens; a longer run that was replaced is another wording
PART_OF_IT = 0.25  # share of a sentence's content that a claim must hold to be about the same
SURROUNDED = 0.65  # and of both in each other, around a run that may hold more than a name
NAME_RUN = 5  # content tokens; a longer run holds more than a name
WORD = 2  # content tokens, at most, of a word


@dataclass(frozen=True, slots=True)
class Conflict:
    """What a source says and what a claim says instead, and the keys of the claim that say it.

    ``sides`` are the words of the claim and of the source; empty where one only denies what the other says.
    """

    reason: Reason
    keys: tuple[str, ...] = ()
    sides: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a claim relates to a sentence. ``near`` is the share in [0, 1] of its content that occurs there in order.

    ``alone`` says that the two differ in one run of words only.
    """

    finding: Finding
    near: float
    conflicts: tuple[Conflict, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What else is known where a claim is compared: the names within its sources, and the words above them.

    ``above`` are those of titles, headings and the question; what they name may be put in any sentence. ``copies`` says
    that both are source sentences: nobody copies a sentence to put in a synonym, so any one other word counts.
    """

    names: Callable[[str], bool] = lambda word: False
    above: frozenset[str] = frozenset()
    copies: bool = False


def compare(claim: ParsedSentence, source: ParsedSentence, around: Surroundings = Surroundings()) -> Comparison:
    """Compare a claim with a sentence."""
    found = edits(source.keys, claim.keys)
    if found is None:
        return Comparison("differs", 0.0)
    near = share_outside(claim, [edit[2:] for edit in found])
    tight = share_outside(source, [edit[:2] for edit in found])
    pairs = pairs_of(source, claim, coalesced(source, found))
    if not pairs:
        return Comparison("same" if source.asks == claim.asks else "differs", near)
    kept = without_moved(pairs)
    if not kept:
        return Comparison("order", near)
    differences = _Differences(source, claim, kept, near, tight, around, moved=kept != pairs)
    if conflicts := differences.conflicts():
        return Comparison("conflict", near, conflicts, differences.alone)
    return Comparison("differs" if any(ours.places for _, ours, _ in pairs) else "part", near)


@dataclass(frozen=True, slots=True)
class _Differences:
    source: ParsedSentence
    claim: ParsedSentence
    pairs: Sequence[Pair]
    near: float
    tight: float
    around: Surroundings
    moved: bool

    @property
    def copies(self) -> bool:
        return self.around.copies

    @property
    def alone(self) -> bool:
        """Whether the sentences differ in one run only; a claim may leave out what else the source says."""
        pairs = self.pairs if self.copies else [pair for pair in self.pairs if pair[1].places or negates(pair[0])]
        return len(pairs) == 1 and len(self.claim.tokens) - len(pairs[0][1].places) >= 3

    @property
    def one_statement(self) -> bool:
        return min(self.near, self.tight) >= SAME

    def conflicts(self) -> tuple[Conflict, ...]:
        """Return why the two can't both hold; nothing where they may."""
        found: list[Conflict] = []
        for a, b, edit in self.pairs:
            if not (a.places and b.places) or max(len(a.content), len(b.content)) > LONGEST_RUN:
                continue
            sides = self._quantities(a, b) or self._names(a, b)
            keys = tuple(b.reading.keys[place] for place in b.content) if sides else ()
            sides = sides or self._words(a, b, edit)
            found += [Conflict(Reason("differs", said, says), keys, (says, said)) for said, says in sides]
        return tuple(dict.fromkeys((*found, *map(Conflict, self._negations()))))

    @property
    def _comparable(self) -> bool:
        """Whether a claim says so little else than its source that one other number or name is another fact."""
        if self.copies or self.alone:
            return True
        least = SAME if self.tight >= NEAR else WHOLE
        replaced = [edit[2:] for a, b, edit in self.pairs if _quantities_of(a) and _quantities_of(b)]
        return share_outside(self.claim, [edit[2:] for _, _, edit in self.pairs], replaced) >= least

    def _quantities(self, a: Run, b: Run) -> list[tuple[str, str]]:
        if self.near < NEAR or not self._comparable:
            return []
        if self.tight < NEAR and abs(len(a.content) - len(b.content)) > LOPSIDED:
            return []
        return quantity_conflicts(a, b)

    def _names(self, a: Run, b: Run) -> list[tuple[str, str]]:
        """Return the two names where a name of the claim is in the place of another of the source."""
        theirs = [place for place in a.places if a.reading.names[place]]
        ours = [place for place in b.places if b.reading.names[place]]
        if not theirs or not ours or self.near < NEAR or self.tight < PART_OF_IT or not self._comparable:
            return []
        wordy = max(len(a.content), len(b.content)) > NAME_RUN or min(self.near, self.tight) < SURROUNDED
        if wordy and not (_one_name_only(a) and _one_name_only(b) and _lists(a) == _lists(b)):
            return []
        sure = max(a.reading.names[place] for place in theirs) + max(b.reading.names[place] for place in ours)
        if sure < 3 and not (self._known_name(a, theirs) or self._known_name(b, ours)):
            return []
        keys_a = without_courtesy([a.reading.keys[place] for place in theirs])
        keys_b = without_courtesy([b.reading.keys[place] for place in ours])
        if one_name(keys_a, keys_b) or one_name(a.keys, keys_b) or one_name(keys_a, b.keys):
            return []
        if not self.copies and (not keys_a or not keys_b or self.around.above.issuperset(keys_b)):
            return []
        return [(_between(a, theirs), _between(b, ours))]

    def _known_name(self, run: Run, places: Sequence[int]) -> bool:
        return any(run.reading.names[place] == 2 or self.around.names(run.reading.keys[place]) for place in places)

    def _words(self, a: Run, b: Run, edit: Edit) -> list[tuple[str, str]]:
        """Return the two sides where a word of a closed class, or a name without capitals, is another."""
        wide = _in_context(self.source, *edit[:2]), _in_context(self.claim, *edit[2:])
        if a.lettered or b.lettered:
            near_enough = self.near >= NEAR_NAME if self.alone else self.copies and self.one_statement
            if near_enough and self._another_lettered_name(a, b, edit):
                return [wide]
        if not self.one_statement:
            return []
        if self.copies:
            excluded = exclude_each_other(self.source.keys, self.claim.keys, edit)
        else:
            excluded = self._is_stronger(a, b, edit)
        if _other_unit(a, b) or excluded:
            return [wide if a.lettered and b.lettered else (a.said, b.said)]
        return [(a.said, b.said)] if self.copies and self._another_word(a, b) else []

    def _is_stronger(self, a: Run, b: Run, edit: Edit) -> bool:
        """Whether a claim is its source but for a word of a closed class that says something else, or more."""
        if not self.alone or self.moved or negates(a) or negates(b):
            return False
        return is_stronger(self.source.keys, self.claim.keys, edit)

    def _another_lettered_name(self, a: Run, b: Run, edit: Edit) -> bool:
        """Whether a run of a script without capitals is a name in the place of another, by its letters or its marks."""
        if not all(token.kind == "letter" or token.capital for token in (*a.tokens, *b.tokens)):
            return False
        if not a.content or not b.content:
            return False
        one, other = "".join(a.keys), "".join(b.keys)
        if len(one) == len(other) == 1 and {one, other} <= _NUMERALS:
            return True
        if _begins_title(self.source, edit[0]) and _begins_title(self.claim, edit[2]):
            return True
        if len(set(one) & set(other)) / min(len(one), len(other)) > 1 / 3:
            return False  # words that share a letter are synonyms more often than names
        if self.copies and self.alone:
            return True
        named = (
            looks_like_name(one, _letters_around(self.source, edit[:2])),
            looks_like_name(other, _letters_around(self.claim, edit[2:])),
        )
        if self.copies and min(len(one), len(other)) > 1:
            return any(named)
        return all(named) and not (negates(a) or negates(b) or self.around.above.issuperset(other))

    def _another_word(self, a: Run, b: Run) -> bool:
        """Whether a copy of a sentence differs in one word, and not only in the form of that word."""
        if not self.alone or not a.content or not b.content:
            return False
        return {stem(key)[:4] for key in a.keys}.isdisjoint(stem(key)[:4] for key in b.keys)

    def _negations(self) -> list[Reason]:
        """Return where one of the two denies what the other says."""
        if not self.one_statement or not (self.copies or self._only_denies()):
            return []
        theirs = [run for run, _, _ in self.pairs if negates(run) and _little_else(run)]
        ours = [run for _, run, _ in self.pairs if negates(run) and _little_else(run)]
        if any(negates(run) for pair in self.pairs for run in pair[:2] if run not in (*theirs, *ours)):
            return []
        if theirs and ours:
            odd = len(self.pairs) == 1 and (_negation_count(theirs[0]) + _negation_count(ours[0])) % 2
            return [Reason("negated_otherwise", _with_neighbours(theirs[0]), _with_neighbours(ours[0]))] if odd else []
        return [
            *(Reason("negation_left_out", _with_neighbours(run)) for run in theirs if _denies(run)),
            *(Reason("negation_added", _with_neighbours(run)) for run in ours if _negation_count(run) % 2),
        ]

    def _only_denies(self) -> bool:
        """Whether the sentences differ in a "not" and nothing else: no other word, and no word elsewhere."""
        theirs = [word for run, _, _ in self.pairs for word in _affirmed(run)]
        return not self.moved and theirs == [word for _, run, _ in self.pairs for word in _affirmed(run)]


def _affirmed(run: Run) -> list[str]:
    """Return what a run says besides its negations, each word without its ending."""
    return [
        _skeleton(stem(run.reading.keys[place]))
        for place in run.places
        if not run.reading.negates[place] and not accompanies(run.reading.tokens[place])
    ]


def _skeleton(word: str) -> str:
    """Return an English word without its vowels, the same for most forms of an irregular verb: swim, swam."""
    return word[:1] + "".join(sign for sign in word[1:] if sign not in "aeiou") if word.isascii() else word


def quantity_conflicts(a: Run, b: Run) -> list[tuple[str, str]]:
    """Return what the source says and what the claim says of each number, unit or figure that differs."""
    found: list[tuple[str, str]] = []
    theirs, ours = _quantities_of(a), _quantities_of(b)
    for one in list(theirs):
        match = next((other for other in ours if _same_value(a.reading.tokens[one], b.reading.tokens[other])), None)
        if match is not None:
            theirs.remove(one)
            ours.remove(match)
    for one, other in zip(theirs, ours, strict=False) if len(theirs) == len(ours) else ():
        if _comparable(a.reading, one, b.reading, other):
            found.append((_with_unit(a.reading, one), _with_unit(b.reading, other)))
    units_a = [place for place in a.places if a.reading.tokens[place].kind == "unit"]
    units_b = [place for place in b.places if b.reading.tokens[place].kind == "unit"]
    for one, other in zip(units_a, units_b, strict=False):
        if _differ_in_unit(a.reading, one, b.reading, other) and not (theirs or ours):
            found.append((a.reading.said(max(0, one - 1), one + 1), b.reading.said(max(0, other - 1), other + 1)))
    for left, right in zip(a.tokens, b.tokens, strict=False):
        if _shape(left) and _shape(left) == _shape(right) and left.key != right.key:
            found.append((a.said, b.said))
    return found


_SMALL = {"second": 2.0, "one": 1.0, "một": 1.0, "năm": 5.0, "zero": 0.0}
_NUMERALS = frozenset((*ZH_DIGITS, *ZH_SCALES))


def _quantities_of(run: Run) -> list[int]:
    tokens = run.reading.tokens
    return [place for place in run.places if _values(tokens[place]) or tokens[place].kind in _COUNTING]


_COUNTING = ("number", "date")


def _values(token: Token) -> tuple[float, ...]:
    small = _SMALL.get(token.key)
    return token.values if small is None else (small,)


def _same_value(one: Token, other: Token) -> bool:
    if one.key == other.key:
        return True
    if one.kind == "date" and other.kind == "date":
        return dates_agree(one.key, other.key)
    if one.kind == "date" or other.kind == "date":
        date, number = (one, other) if one.kind == "date" else (other, one)
        return number.value is not None and number.value in parts_of(date.key)
    return not set(_values(one)).isdisjoint(_values(other))


def _comparable(one: ParsedSentence, at: int, other: ParsedSentence, to: int) -> bool:
    """Whether one quantity for the other is a conflict: both of one measure, and neither says the other roughly."""
    a, b = one.tokens[at], other.tokens[to]
    if "number" not in (a.kind, b.kind) and (a.kind != "date" or b.kind != "date"):
        return False
    if _unit_after(one, at) != _unit_after(other, to):
        return False
    if _negative_in_words(one, at, other, to) or is_difference(one, at) != is_difference(other, to):
        return False
    if (share := share_named(one, at)) is not None and share == share_named(other, to):
        return False
    return not may_mean(one, at, other, to)


_NEGATIVE = frozenset(("minus", "negative", "âm", "下"))


def _negative_in_words(one: ParsedSentence, at: int, other: ParsedSentence, to: int) -> bool:
    """Whether two numbers differ in a sign that one of them has in words: "minus 5"."""
    a, b = one.tokens[at], other.tokens[to]
    if a.value is None or b.value is None or a.value != -b.value:
        return False
    positive, place = (one, at) if a.value > 0 else (other, to)
    return place > 0 and positive.keys[place - 1] in _NEGATIVE


def _differ_in_unit(one: ParsedSentence, at: int, other: ParsedSentence, to: int) -> bool:
    """Whether two units of one dimension make two quantities of one number; "5 degrees" may be 5 °C."""
    named = one.keys[at], other.keys[to]
    if named[0] == named[1] or "u:°" in named or dimension(named[0]) != dimension(named[1]):
        return False
    return not _agree_by_second_readings(one, at, other, to)  # 2,5 km and 2.500 m


def _agree_by_second_readings(one: ParsedSentence, at: int, other: ParsedSentence, to: int) -> bool:
    """Whether the numbers before two units are one number only where thousands are read as decimals."""
    a, b = one.tokens[max(0, at - 1)], other.tokens[max(0, to - 1)]
    return a.value != b.value and not set(a.values).isdisjoint(b.values)


def _unit_after(reading: ParsedSentence, place: int) -> str:
    after = reading.tokens[place + 1] if place + 1 < len(reading.tokens) else None
    return after.key if after is not None and after.kind == "unit" else ""


def _other_unit(a: Run, b: Run) -> bool:
    """Whether two runs name two units of one dimension without a number: "within a week"."""
    one, other = unit_named(a.keys), unit_named(b.keys)
    return bool(one and other) and one != other and dimension(one) == dimension(other)


def _shape(token: Token) -> str:
    """Return a word that holds digits without them ("n6", "boeing747"); empty where there are none."""
    bare = "".join("0" if sign.isdigit() else sign for sign in token.key)
    return bare if token.kind == "word" and bare != token.key else ""


def _one_name_only(run: Run) -> bool:
    """Whether a run is one name, at most with a word for what it names."""
    others = [token for token in run.tokens if is_content(token) and not token.capital]
    return not any(token.key.isascii() for token in others) and len(others) <= 1


def _lists(run: Run) -> bool:
    return any(mark in run.said for mark in (", ", ";", "、"))


def _little_else(run: Run) -> bool:
    """Whether a run says little but "not": at most one word more, as in "did not win"."""
    return (
        sum(not run.reading.negates[place] and not accompanies(run.reading.tokens[place]) for place in run.places) <= 1
    )


def _denies(run: Run) -> bool:
    """Whether a run denies; a clause cut off before a claim ("It is not true that") leaves open what it does."""
    return _negation_count(run) % 2 == 1 and not (run.places[0] == 0 and len(run.places) > 3)


def _negation_count(run: Run) -> int:
    return sum(run.reading.negates[place] for place in run.places)


def _between(run: Run, places: Sequence[int]) -> str:
    return run.reading.said(places[0], places[-1] + 1)


def _with_unit(reading: ParsedSentence, place: int) -> str:
    """Return a quantity as it was written, with its unit."""
    return reading.said(place, place + 1 + (_unit_after(reading, place) != ""))


def _in_context(reading: ParsedSentence, first: int, last: int) -> str:
    """Return a run; one of a single token with its neighbouring words, up to the nearest punctuation."""
    if last - first != 1:
        return reading.said(first, last)
    return reading.said(first - (first > 0 and _adjoins(reading, first - 1)), last + _joined_after(reading, last, 1))


def _joined_after(reading: ParsedSentence, last: int, most: int) -> int:
    count = 0
    while count < most and last + count < len(reading.tokens) and _adjoins(reading, last + count - 1):
        count += 1
    return count


def _adjoins(reading: ParsedSentence, place: int) -> bool:
    return reading.folded[reading.tokens[place].end : reading.tokens[place + 1].start] in ("", " ", "-")


def _with_neighbours(run: Run) -> str:
    """Return a negation with its neighbouring words."""
    reach = 2 if run.tokens[0].kind == "letter" else 1
    first, last = run.places[0], run.places[-1] + 1
    last += _joined_after(run.reading, last, reach)
    for _ in range(reach):
        first -= first > 0 and _adjoins(run.reading, first - 1)
    return run.reading.said(first, last)


def _begins_title(reading: ParsedSentence, place: int) -> bool:
    """Whether a token is the first of a title in Chinese title marks."""
    return reading.folded[reading.tokens[place].start - 1 : reading.tokens[place].start] in ("《", "〈")


def _letters_around(reading: ParsedSentence, run: Sequence[int]) -> str:
    """Return a run with the letter before it and the two after it, as far as no punctuation parts them."""
    first = run[0] - (run[0] > 0 and _adjoins(reading, run[0] - 1))
    around = reading.tokens[first : run[1] + _joined_after(reading, run[1], 2)]
    return "".join(token.key for token in around if token.kind == "letter")
