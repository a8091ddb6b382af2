"""Say what a source and a claim say, with as much around it as a reader needs."""

from collections.abc import Sequence

from tools.claims.readings import Reading
from tools.claims.runs import Run, is_content


def with_units(one: tuple[Reading, int], other: tuple[Reading, int]) -> tuple[str, str]:
    """Give two quantities as they were written, with what they count where both count the same."""
    after = [reading.tokens[place + 1] if place + 1 < len(reading.tokens) else None for reading, place in (one, other)]
    alike = after[0] is not None and after[1] is not None and after[0].key == after[1].key and is_content(after[0])
    counts = alike and not any(_of_time(reading, place) for reading, place in (one, other))
    said = [
        beside(reading, place, place + 1, after=int(counts or (unit is not None and unit.kind in ("unit", "number"))))
        for (reading, place), unit in zip((one, other), after, strict=True)
    ]
    return said[0], said[1]


def _of_time(reading: Reading, place: int) -> bool:
    """Tell a date or year, which counts nothing."""
    token, said = reading.tokens[place], reading.said(place, place + 1)
    if token.kind == "date" or not said[-1].isalnum() or said[-1] in "年月日号":
        return True
    return len(said) == 4 and token.value is not None and 1000 <= token.value <= 2200


def beside(reading: Reading, first: int, last: int, *, before: int = 0, after: int = 0) -> str:
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


def with_number(reading: Reading, place: int) -> str:
    """Give a unit with the number before it."""
    return reading.said(max(0, place - 1), place + 1)


def in_context(reading: Reading, first: int, last: int) -> str:
    """Give a run with the word on either side."""
    return beside(reading, first, last, before=1, after=1)


def said_of(reading: Reading, places: Sequence[int]) -> str:
    """Give what stands from the first to the last of some places."""
    return reading.said(places[0], places[-1] + 1)


def quoted(run: Run) -> str:
    """Quote a negation with what it stands beside."""
    reach = 2 if run.tokens[0].kind == "letter" else 1
    return f'"{beside(run.reading, run.places[0], run.places[-1] + 1, before=reach, after=reach)}"'
