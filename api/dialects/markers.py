"""Citations as marks in the text: what each dialect writes behind a proven claim, from the same citations."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from api.dialects.holding import Told, told_of
from graph.evidence import Message, Source

Mark = Callable[[int], str]
BETWEEN_SECTIONS = "\n\n"
# An invisible character that parts what would otherwise be read together.
JOINER = "\u2060"
_LOOKS_LIKE_A_MARK = re.compile(r"\[(?=(?:\^|ref:)?\d+\])", re.IGNORECASE)


def footnote(index: int) -> str:
    """Write ``[^n]``, as Markdown footnotes do."""
    return f"[^{index}]"


def reference(index: int) -> str:
    """Write ``[ref:n]``."""
    return f"[ref:{index}]"


def bracket(index: int) -> str:
    """Write ``[n]``."""
    return f"[{index}]"


def by_place(mark: Mark, sources: Sequence[Source]) -> Mark:
    """Give a mark that counts the sources of a list, for clients that have the list and nothing else.

    It names a source by its 1-based place, which is its index unless the list has lost one, as where its document was
    deleted meanwhile; of a source that is not there it writes nothing.
    """
    places = {source["index"]: place for place, source in enumerate(sources, start=1)}
    return lambda index: mark(places[index]) if index in places else ""


def pieces(told: Told, mark: Mark) -> list[str]:
    """Give a section's text claim by claim, each claim followed by the marks of the sources that it cites.

    Joined they are the section with its marks; no mark is ever cut. A section but the first begins with the blank line
    that parts it from the one before. Where the text itself holds what a reader would take for a mark, such as a
    quoted ``[3]``, a JOINER behind its bracket tells it from ours.
    """
    given = [BETWEEN_SECTIONS] if told.place else []
    behind = 0
    marks = ""
    for claim in sorted(told.claims, key=lambda claim: claim["end"]):
        text = _apart(marks, _own_words(told.text, behind, claim["end"]))
        marks = "".join(map(mark, sorted({citation["source_index"] for citation in claim["citations"]})))
        given.append(text + marks)
        behind = claim["end"]
    given.append(_apart(marks, _own_words(told.text, behind, len(told.text))))
    return _joined(given)


def _own_words(text: str, start: int, end: int) -> str:
    """Give a part of a text with what looks like a mark in it told apart."""
    opened = [match.end() for match in _LOOKS_LIKE_A_MARK.finditer(text) if start < match.end() <= end]
    edges = [start, *opened, end]
    return JOINER.join(text[one:other] for one, other in pairwise(edges))


def _apart(marks: str, text: str) -> str:
    """Keep a parenthesis behind a mark from making a Markdown link of it."""
    return JOINER + text if marks and text.startswith("(") else text


def _joined(given: list[str]) -> list[str]:
    """Keep white space with what follows it, and leave out what is empty."""
    whole: list[str] = []
    space = ""
    for piece in given:
        if piece.strip():
            whole.append(space + piece)
            space = ""
        else:
            space += piece
    if space and whole:
        whole[-1] += space
    return whole


def marked_text(message: Message, mark: Mark) -> str:
    """Write a finished message's answer with its marks, as its stream told it."""
    return "".join(piece for told in told_of(message) for piece in pieces(told, mark))


def utf16(text: str, offset: int) -> int:
    """Turn an offset in code points into one in UTF-16 units, as JavaScript counts."""
    return len(text[:offset].encode("utf-16-le")) // 2
