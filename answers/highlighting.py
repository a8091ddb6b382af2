"""Where the entry that a passage highlights stands: in its quote, and in the Markdown that shows the passage."""

from graph.evidence import Citation, ShownPassage

_APART = frozenset(" \t\n|")  # what parts a word, with the signs around it, from others


def in_quote(passage: Citation | ShownPassage) -> tuple[int, int] | None:
    """Return the span of a passage's highlight in its quote; None where it has none, or all of it is the highlight."""
    span = passage.get("highlight")
    if span is None or (span["start"], span["end"]) == (passage["start"], passage["end"]):
        return None
    return span["start"] - passage["start"], span["end"] - passage["start"]


def in_markdown(text: str, passage: Citation | ShownPassage) -> tuple[int, int] | None:
    """Return the span of a passage's highlight in the Markdown that shows it, None where it has none or is not found.

    Both say the same letters and digits in the same order, whatever the signs between them. The Markdown may say more
    before the passage, such as the header of a table that stands further above.
    """
    span = in_quote(passage)
    if span is None:
        return None
    before, shown = _letters(passage["quote"][: span[0]]), _letters(passage["quote"][slice(*span)])
    places = [at for at, sign in enumerate(text) if sign.isalnum()]
    letters = "".join(text[at] for at in places)
    at = letters.find(before + shown)
    at = letters.find(shown) if at < 0 else at + len(before)
    if not shown or at < 0:
        return None
    start, end = places[at], places[at + len(shown) - 1] + 1
    while start and text[start - 1] not in _APART and not text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end] not in _APART and not text[end].isalnum():
        end += 1
    return start, end


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
