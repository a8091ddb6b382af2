"""Whether one number may be meant by another that rounds or bounds it: "some 1.3 million" for 1,345,595."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from math import floor, log10

from text.language import word_set
from text.numbers import spell
from tools.claims.claim_tokens import Token
from tools.claims.lexicon import lists
from tools.claims.sentence_parsing import ParsedSentence

ROUNDING = 0.02  # how far a rounded number may be from the one it rounds
FINE_ROUNDING = 0.05  # the same where it keeps two digits or more
ROUGHLY = 0.11  # the same where the claim says that it is rough
HALF_A_DAY = 12 * 60  # minutes; clocks of twelve hours leave open which half
_BEFORE = 24  # characters before a number in which a word such as "about" stands, and behind it half as many
_CLOCK = re.compile(r"#(\d{1,2}):(\d{2})(?::\d{2})?\Z")


def may_mean(source: ParsedSentence, at: int, claim: ParsedSentence, to: int) -> bool:
    """Whether the number of a claim may stand for that of its source, in any sense that both may have."""
    a, b = source.tokens[at], claim.tokens[to]
    if a.value is None or b.value is None:
        return _same_time(a, b)
    said, in_source = _around(claim, to), _around(source, at)
    years = b.key.endswith("s") or _says("years", said)
    # Of two numbers of two readings each, one is not read as thousands and the other as decimals.
    pairs = zip(a.values, b.values, strict=False) if a.also and b.also else product(a.values, b.values)
    if any(_may_mean(one, other, said, in_source, years=years) for one, other in pairs):
        return True
    return not a.also and any(rounds(other, a.value) for other in b.also)


def _may_mean(one: float, other: float, said: str, in_source: str, *, years: bool) -> bool:
    if years and other % 10 == 0 and 1000 <= other < 2200:
        return 0 <= one - other < (100 if other % 100 == 0 else 10)
    if rounds(one, other):
        return True
    bound = "less" if other >= one else "more"
    if _says(bound, said) and not _says(bound, in_source):  # what bounds both numbers excuses no other one
        return True
    about = _says("about", said) and not _says("about", in_source)
    return about and abs(one - other) <= ROUGHLY * abs(one)


_OF = frozenset(
    {
        ("in",), ("in", "every"), ("of",), ("of", "every"), ("out", "of"), ("out", "of", "every"),
        ("trong",), ("trong", "số"), ("trên",),
    }
)  # fmt: skip
_OF_WHICH = frozenset({("中",), ("中", "有"), ("里", "有"), ("当", "中", "有"), ("có",), ("thì", "có")})
_COUNTERS = frozenset("个個名位")
_COMPARED = 8  # tokens before a number among which "比" compares what it measures
_COMPARATIVES = word_set(
    """
    bigger cheaper closer colder cooler darker deeper earlier farther faster fewer further heavier higher larger later
    less lighter longer lower more narrower newer older shorter slower smaller taller thicker thinner warmer wider
    younger
    """
)


def is_difference(reading: ParsedSentence, at: int) -> bool:
    """Whether a number says by how much two things differ: "7 metres shorter than". No share: "7 % more" is of one."""
    behind = at + 1
    if behind < len(reading.tokens) and reading.tokens[behind].kind == "unit":
        if reading.keys[behind] == "u:%":
            return False
        behind += 1
    before = reading.keys[max(0, at - _COMPARED) : at]
    if "比" in before or "hơn" in before[-_APART:-1]:  # "hơn 7" is "more than 7" as often
        return True
    return behind < len(reading.tokens) and reading.keys[behind] in _COMPARATIVES


_WORDS = {"one": 1.0, "một": 1.0, "năm": 5.0}  # which more often mean something else
_APART = 5  # tokens between the two numbers of a share, at most


def share_named(reading: ParsedSentence, at: int) -> float | None:
    """Return the share that a number names with the one beside it: 0.2 of "two in ten". None where it names none."""
    for first, last in _beside(reading, at):
        between = tuple(
            token.key
            for token in reading.tokens[first + 1 : last]
            if token.kind != "unit" and token.key not in _COUNTERS
        )
        part, whole = _count(reading.tokens[first]), _count(reading.tokens[last])
        if between in _OF_WHICH:
            part, whole = whole, part
        elif between not in _OF:
            continue
        if part and whole and 0 < part <= whole:
            return round(part / whole, 9)
    return None


def _beside(reading: ParsedSentence, at: int) -> Iterator[tuple[int, int]]:
    """Yield the places of a number and the next one, and of the last one before it and it."""
    after = range(at + 1, min(len(reading.tokens), at + _APART + 2))
    before = range(at - 1, max(-1, at - _APART - 2), -1)
    for places in (after, before):
        other = next((place for place in places if _count(reading.tokens[place])), None)
        if other is not None:
            yield min(at, other), max(at, other)


def _count(token: Token) -> float | None:
    return _WORDS.get(token.key, token.value)


def rounds(one: float | None, other: float | None) -> bool:
    """Whether the second number is the first with fewer digits; a year is never rounded."""
    if not one or not other or one * other < 0:
        return False
    if all(value == int(value) and 1000 <= value <= 2200 for value in (one, other)):
        return False
    digits = len(_digits(other))
    if digits >= len(_digits(one)) or abs(one - other) > (FINE_ROUNDING if digits > 1 else ROUNDING) * abs(one):
        return False
    step = 10.0 ** (floor(log10(abs(one))) + 1 - digits)
    return spell(abs(other)) in (spell(round(abs(one) / step) * step), spell(floor(abs(one) / step) * step))


def _digits(value: float) -> str:
    return f"{abs(value):.10g}".replace(".", "").strip("0")


def _same_time(one: Token, other: Token) -> bool:
    """Whether two times of day may be one; a number that is none may be what a time of day says otherwise."""
    a, b = _CLOCK.match(one.key), _CLOCK.match(other.key)
    if a is None or b is None:
        return one.kind == other.kind == "number" and (a is not None or b is not None)
    minutes = [60 * int(each[1]) + int(each[2]) for each in (a, b)]
    return (minutes[0] - minutes[1]) % HALF_A_DAY == 0


def _around(reading: ParsedSentence, place: int) -> str:
    token = reading.tokens[place]
    before, after = reading.folded[max(0, token.start - _BEFORE) : token.start], reading.folded[token.end :]
    return f" {before.casefold()} # {after[: _BEFORE // 2].casefold()} "


@cache
def _pattern(name: str) -> re.Pattern[str]:
    before, after = (phrases.strip().split(", ") for phrases in lists()["bounds"][name].strip().split("\n"))
    spaced = "|".join(rf"\b{re.escape(each)}\b" if each[0] < "\u2e80" else re.escape(each) for each in before)
    behind = "|".join(map(re.escape, after))
    return re.compile(rf"(?:{spaced})[^#,.;，。；]{{0,12}}#|#[^,.;，。；]{{0,8}}?(?:{behind})")


def _says(name: str, around: str) -> bool:
    return _pattern(name).search(around) is not None
