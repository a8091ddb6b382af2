"""Tell which numbers, dates and counted things of two runs agree."""

from tools.claims.dates import dates_agree, parts_of
from tools.claims.readings import Reading
from tools.claims.runs import Run, is_content
from tools.claims.tokens import Token
from tools.claims.wording import with_number, with_units

LOOSE_UNITS = frozenset(("u:person", "u:times", "u:age"))
_SMALL = {"second": 2.0, "one": 1.0, "một": 1.0, "năm": 5.0, "zero": 0.0}


def quantities(run: Run) -> list[int]:
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


def same_quantity(one: tuple[Reading, int], other: tuple[Reading, int]) -> bool:
    """Tell whether two quantities of two sentences agree."""
    return same_value(one[0].tokens[one[1]], other[0].tokens[other[1]])


def is_counted(run: Run) -> bool:
    """Tell whether a run says what a number before it counts."""
    first = run.places[0]
    return first > 0 and run.reading.tokens[first - 1].kind == "number" and is_content(run.reading.tokens[first])


def shape_of(token: Token) -> str:
    """Give a word that holds digits without them ("n6", "boeing747"); empty where there are none."""
    bare = "".join("0" if sign.isdigit() else sign for sign in token.key)
    return bare if token.kind == "word" and bare != token.key else ""


def number_conflicts(a: Run, b: Run) -> list[tuple[str, str]]:
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
