"""Citations as marks in the text: what each dialect writes behind a proven claim, from the same citations."""

from collections.abc import Callable

from api.dialects.holding import Told, told_of
from graph.evidence import Message

Mark = Callable[[int], str]
BETWEEN_SECTIONS = "\n\n"


def footnote(index: int) -> str:
    """Write ``[^n]``, as Markdown footnotes do."""
    return f"[^{index}]"


def reference(index: int) -> str:
    """Write ``[ref:n]``."""
    return f"[ref:{index}]"


def bracket(index: int) -> str:
    """Write ``[n]``."""
    return f"[{index}]"


def pieces(told: Told, mark: Mark) -> list[str]:
    """Give a section's text claim by claim, each claim followed by the marks of the sources that it cites.

    Joined they are the section with its marks; no mark is ever cut. A section but the first begins with the blank line
    that parts it from the one before.
    """
    given = [BETWEEN_SECTIONS] if told.place else []
    behind = 0
    for claim in sorted(told.claims, key=lambda claim: claim["end"]):
        marks = "".join(map(mark, sorted({citation["source_index"] for citation in claim["citations"]})))
        given.append(told.text[behind : claim["end"]] + marks)
        behind = claim["end"]
    given.append(told.text[behind:])
    return _joined(given)


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
