"""Conflicts in replaced spans: another quantity, another bound or another name, worded as a reason for the reader."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from text.numbers import ZH_DIGITS, ZH_SCALES
from tools.claims import cues
from tools.claims.claim_tokens import Token
from tools.claims.dates import dates_agree, parts_of
from tools.claims.diff_spans import (
    WORD,
    DiffSpan,
    Edit,
    is_content,
    is_lettered,
    is_list,
    is_name,
    letters_of,
    may_name,
    span_of,
)
from tools.claims.proper_names import looks_like_name, one_name
from tools.claims.sentence_parsing import ParsedSentence


def with_units(one: tuple[ParsedSentence, int], other: tuple[ParsedSentence, int]) -> tuple[str, str]:
    """Give two quantities as they were written, with what they count where both count the same."""
    after = [reading.tokens[place + 1] if place + 1 < len(reading.tokens) else None for reading, place in (one, other)]
    alike = after[0] is not None and after[1] is not None and after[0].key == after[1].key and is_content(after[0])
    counts = alike and not any(_of_time(reading, place) for reading, place in (one, other))
    said = [
        with_neighbours(
            reading, place, place + 1, after=int(counts or (unit is not None and unit.kind in ("unit", "number")))
        )
        for (reading, place), unit in zip((one, other), after, strict=True)
    ]
    return said[0], said[1]


def _of_time(reading: ParsedSentence, place: int) -> bool:
    """Tell a date or year, which counts nothing."""
    token, said = reading.tokens[place], reading.said(place, place + 1)
    if token.kind == "date" or not said[-1].isalnum() or said[-1] in "年月日号":
        return True
    return len(said) == 4 and token.value is not None and 1000 <= token.value <= 2200


def with_neighbours(reading: ParsedSentence, first: int, last: int, *, before: int = 0, after: int = 0) -> str:
    """Give the words of a run with some around it, as far as no punctuation parts them."""
    for _ in range(before):
        if first > 0 and _adjoins(reading, first - 1):
            first -= 1
    for _ in range(after):
        if last < len(reading.tokens) and _adjoins(reading, last - 1):
            last += 1
    return reading.said(first, last)


def _adjoins(reading: ParsedSentence, place: int) -> bool:
    between = reading.folded[reading.tokens[place].end : reading.tokens[place + 1].start]
    return between in ("", " ", "-")


def with_number(reading: ParsedSentence, place: int) -> str:
    """Give a unit with the number before it."""
    return reading.said(max(0, place - 1), place + 1)


def in_context(reading: ParsedSentence, first: int, last: int) -> str:
    """Give a run with the word on either side."""
    return with_neighbours(reading, first, last, before=1, after=1)


def text_between(reading: ParsedSentence, places: Sequence[int]) -> str:
    """Give what stands from the first to the last of some places."""
    return reading.said(places[0], places[-1] + 1)


def quoted(run: DiffSpan) -> str:
    """Quote a negation with what it stands beside."""
    reach = 2 if run.tokens[0].kind == "letter" else 1
    return f'"{with_neighbours(run.reading, run.places[0], run.places[-1] + 1, before=reach, after=reach)}"'


LOOSE_UNITS = frozenset(("u:person", "u:times", "u:age"))
_SMALL = {"second": 2.0, "one": 1.0, "một": 1.0, "năm": 5.0, "zero": 0.0}


def quantities(run: DiffSpan) -> list[int]:
    """Give the places of the numbers and dates of a run."""
    return [
        place
        for place in run.places
        if value_of(run.reading.tokens[place]) is not None or run.reading.tokens[place].kind in ("number", "date")
    ]


def value_of(token: Token) -> float | None:
    """Give the value of a number, also of a word that may be one."""
    return token.value if token.value is not None else _SMALL.get(token.key)


def same_value(one: Token, other: Token) -> bool:
    """Tell whether two quantities agree; a date agrees with one that names fewer parts."""
    if one.key == other.key:
        return True
    if one.kind == "date" and other.kind == "date":
        return dates_agree(one.key, other.key)
    if one.kind == "date" or other.kind == "date":
        date, number = (one, other) if one.kind == "date" else (other, one)
        return number.value is not None and number.value in parts_of(date.key)
    a, b = value_of(one), value_of(other)
    return a is not None and a == b


def comparable(one: Token, other: Token) -> bool:
    """Tell whether one quantity for the other is a conflict: not where "one" is rather an article."""
    return (one.kind in ("number", "date") and other.kind in ("number", "date")) or (
        value_of(one) != value_of(other) and {one.kind, other.kind} & {"number"} != set()
    )


def same_quantity(one: tuple[ParsedSentence, int], other: tuple[ParsedSentence, int]) -> bool:
    """Tell whether two quantities of two sentences agree."""
    return same_value(one[0].tokens[one[1]], other[0].tokens[other[1]])


def is_counted(run: DiffSpan) -> bool:
    """Tell whether a run says what a number before it counts."""
    first = run.places[0]
    return first > 0 and run.reading.tokens[first - 1].kind == "number" and is_content(run.reading.tokens[first])


def shape_of(token: Token) -> str:
    """Give a word that holds digits without them ("n6", "boeing747"); empty where there are none."""
    bare = "".join("0" if sign.isdigit() else sign for sign in token.key)
    return bare if token.kind == "word" and bare != token.key else ""


def number_conflicts(a: DiffSpan, b: DiffSpan) -> list[tuple[str, str]]:
    """Give what the source says and what the claim says of each number, unit or figure that differs."""
    found: list[tuple[str, str]] = []
    theirs, ours = quantities(a), quantities(b)
    for one in list(theirs):
        match = next((other for other in ours if same_value(a.reading.tokens[one], b.reading.tokens[other])), None)
        if match is not None:
            theirs.remove(one)
            ours.remove(match)
    for one, other in zip(theirs, ours, strict=False):
        if comparable(a.reading.tokens[one], b.reading.tokens[other]):
            found.append(with_units((a.reading, one), (b.reading, other)))
    units_a = [place for place in a.places if a.reading.tokens[place].kind == "unit"]
    units_b = [place for place in b.places if b.reading.tokens[place].kind == "unit"]
    if units_a and units_b and {a.reading.keys[p] for p in units_a}.isdisjoint(b.reading.keys[p] for p in units_b):
        found.append((with_number(a.reading, units_a[0]), with_number(b.reading, units_b[0])))
    elif bool(units_a) != bool(units_b) and is_counted(a) and is_counted(b):
        unit = a.reading.keys[units_a[0]] if units_a else b.reading.keys[units_b[0]]
        if unit not in LOOSE_UNITS:
            found.append((with_number(a.reading, a.places[0]), with_number(b.reading, b.places[0])))
    for left, right in zip(a.tokens, b.tokens, strict=False):
        if shape_of(left) and shape_of(left) == shape_of(right) and left.key != right.key:
            found.append((a.said, b.said))
    return found


_PREFIXES = frozenset(("non", "anti", "bất", "phi"))
_LOWERING = frozenset(("less", "least", "kém", "ít"))
_COMPARED = frozenset(("hơn", "nhất", "than"))
_ORDINALS = frozenset(("second", "#2", "third", "#3", "#4", "#5", "thứ", "第"))
_REACH = 6  # tokens in which "kém hiệu quả và sáng tạo nhất" says that it compares


def bounds_of(run: DiffSpan) -> frozenset[int]:
    """Say by which sides of "more" and "less" a run bounds a quantity; empty where it names no bound."""
    return cues.bound(run.keys)


def bounded(run: DiffSpan) -> bool:
    """Tell whether a run bounds the number beside it: "less than" 90%, 两年 "以上"."""
    if not run.places or not bounds_of(run):
        return False
    tokens, first, last = run.reading.tokens, run.places[0], run.places[-1]
    after = tokens[last + 1].kind if last + 1 < len(tokens) else ""
    before = tokens[first - 1].kind if first else ""
    return after == "number" or (tokens[first].kind == "letter" and before in ("number", "unit"))


def turned_by(run: DiffSpan) -> bool:
    """Tell whether a run is a word that turns or lowers what is behind it: bất, "least", "second" tallest."""
    keys, tokens = run.reading.keys, run.reading.tokens
    after = run.places[-1] + 1 if run.places else len(keys)
    if after >= len(keys):
        return False
    if len(run.places) == 1 and run.keys[0] in _PREFIXES:
        return tokens[after].kind == "word"
    if len(run.places) == 1 and run.keys[0] in _LOWERING:
        return run.keys[0] == "least" or not _COMPARED.isdisjoint(keys[after : after + _REACH])
    return set(run.keys) <= _ORDINALS and _superlative(keys[after:])


def _superlative(keys: Sequence[str]) -> bool:
    return keys[0] in ("most", "nhất", "大", "长", "高") or (len(keys[0]) > 5 and keys[0].endswith("est"))


SURROUNDED = 0.65  # and what a name stands in, before a run that holds more than a name is one
NAME = 5  # content tokens of such a run
ALONE = 0.45  # enough where the claim is the sentence but for one run
NEAR = 0.55  # share of a claim's content that must stand in a sentence before a difference is called a conflict
VERY_NEAR = 0.75
_NUMERALS = frozenset((*ZH_DIGITS, *ZH_SCALES))


@dataclass(frozen=True, slots=True)
class MatchContext:
    """How near a claim and a sentence are, by the share of either's content that stands in the other in order.

    ``alone`` says that they differ in one run only; ``known`` tells whether a run stands elsewhere in the evidence.
    """

    near: float
    tight: float
    alone: bool
    known: Callable[[str], bool]


def name_conflict(a: DiffSpan, b: DiffSpan, setting: MatchContext) -> tuple[str, str] | None:
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
    return text_between(a.reading, theirs), text_between(b.reading, ours)


def _is_known(run: DiffSpan, places: Sequence[int], setting: MatchContext) -> bool:
    return any(run.reading.names[place] == 2 or setting.known("^" + run.reading.keys[place]) for place in places)


def swaps_letters(a: DiffSpan, b: DiffSpan, edit: Edit, setting: MatchContext) -> bool:
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


def _word(reading: ParsedSentence, first: int, last: int) -> str:
    return "".join(token.key for token in reading.tokens[max(0, first - 1) : last + 2] if token.kind == "letter")


def are_akin(a: DiffSpan, b: DiffSpan, edit: Edit) -> bool:
    """Tell whether two runs, with or without what may be left out, are near in meaning."""
    return cues.akin(a.reading.keys, b.reading.keys, edit) or cues.akin(
        a.reading.keys, b.reading.keys, (*span_of(a), *span_of(b))
    )
