"""How far a question names a row of a table: by the row's key, and by a value under a column that it names too.

A number that stands anywhere else in the row, such as in a date, says nothing: "room 20" is not the room with 20 seats.
"""

from answers.entry import Entry
from answers.passage_markdown import cells_of
from text.words import comparable_text

KEY = 3.0  # what a row's key counts for, where all of it is named; another label and a value count 1
OTHER_NUMBER = 0.5  # of a label that is named but for its number, such as "child" of "Child 4-15"


def naming(question: str, row: Entry) -> float:
    """Return how far a question names a row, from 0 on; only rows of one table compare."""
    asked = comparable_text(question)
    headers = [cells_of(each.text) for each in row.context if each.role == "header"]
    cells = cells_of(row.text)
    key = cells[0] or (headers[-1][0] if headers else "")  # a row of a group has the group's key
    columns = dict(enumerate(headers[0])) if headers else {}
    found = KEY * _share(key, asked.vocabulary)
    for at, cell in enumerate(cells[1:], start=1):
        value = comparable_text(cell)
        if not value.vocabulary.isdisjoint(asked.vocabulary) and value.flat in asked.flat:
            found += cell.isalpha() or _is_named(columns.get(at, ""), asked.vocabulary)
        else:
            found += _share(cell, asked.vocabulary)
    return found


def _is_named(column: str, asked: frozenset[str]) -> bool:
    return not comparable_text(column).vocabulary.isdisjoint(asked)


def _share(cell: str, asked: frozenset[str]) -> float:
    """Return the share of a label's words that a question has; a number alone is no label."""
    words = comparable_text(cell).vocabulary
    names = {word for word in words if not any(map(str.isdigit, word))}
    if not names:
        return float(bool(words) and words <= asked)
    share = len(names & asked) / len(names)
    return share if words - names <= asked else OTHER_NUMBER * share
