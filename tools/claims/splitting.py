"""Split a section of an answer into claims, by its Markdown and by the sentences of the sources it cites."""

import re
from collections.abc import Sequence

from text.answer_markdown import states_fact, units, whole_units
from text.scripts import UNSPACED
from tools.claims.cited_sources import Sources
from tools.claims.quoted_code import code_of, find_code
from tools.claims.verbatim import find_verbatim

_LONGEST = 4  # pieces that may be one source sentence


_SHORT_WORDS = 4  # of a first sentence that only leads into the next
_SHORT_LETTERS = 6  # and of one in a script without spaces
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:['’-][^\W_{UNSPACED}]+)*")
_LETTER = re.compile(f"[{UNSPACED}]")

ClaimSpan = tuple[int, int, int]  # start, end of a first sentence without a fact, end; the first two are mostly equal


def claims_of(text: str, sources: Sources, start: int = 0, *, is_open: bool = False) -> list[ClaimSpan]:
    """Return the spans of the claims of a section that begin at or after an offset, in order.

    The section is read as Markdown: sentences of its prose, lead-ins with a fact, rows of its tables and code that is a
    source's own are claims; headings, other lead-ins, other code and offers are none. A sentence alone may be split
    differently than in its source, where it has neighbours; pieces of a paragraph that together are a source sentence
    are one claim, and so are a short first sentence without a fact, such as "Yes, in part.", and what follows it. With
    ``is_open`` the text goes on, and only the claims are returned that no continuation can change.
    """
    found: list[ClaimSpan] = []
    found_units = units(text, start, is_open=is_open) if is_open or start else whole_units(text)
    for number, unit in enumerate(found_units, start=1):
        if unit.kind == "code" and is_open and number == len(found_units):
            return found
        if unit.kind == "code" and unit.start >= start and find_code(code_of(text, unit.start, unit.end), sources):
            found.append((unit.start, unit.start, unit.end))
        pieces = [(_with_sign(text, piece[0]), piece[1]) for piece in unit.claims if piece[0] >= start]
        at = 0
        while at < len(pieces):
            begin, end = pieces[at]
            if unit.claims[0][0] >= start and not at and _only_leads(text[begin:end], sources):
                if len(pieces) == 1 and unit.is_open:
                    return found
                count = min(2, len(pieces))
                found.append((begin, pieces[1][0] if count > 1 else begin, pieces[count - 1][1]))
                at += count
                continue
            count = _count_of_one(text, pieces[at : at + _LONGEST], sources, is_open=unit.is_open)
            if not count:
                return found
            found.append((begin, begin, pieces[at + count - 1][1]))
            at += count
        if unit.is_open:
            break
    return found


def _only_leads(piece: str, sources: Sources) -> bool:
    """Whether a sentence is short, states no fact by its form, and is not the sources' own."""
    words = _WORD.findall(piece)
    most = _SHORT_LETTERS if any(map(_LETTER.match, words)) else _SHORT_WORDS
    return len(words) <= most and not states_fact(piece) and not find_verbatim(piece, sources)


_SIGN = re.compile(r"[ \t>*+-]*?(?P<sign>[-+*>]|\d{1,9}[.)])[ \t]+\Z")
_FIGURE = re.compile(r"[$€£¥₫₹]?\d")
_MOST_INDENT = 40
_FARTHEST = 2000  # characters before an item in which the item before it stands


def _with_sign(text: str, start: int) -> int:
    """Return where a claim begins that Markdown takes for the first item of a list, or for a quotation.

    Its sign may mean more to a reader of plain text: a minus, "greater than", or a number in no sequence.
    """
    line = text.rfind("\n", 0, start) + 1
    marker = _SIGN.match(text, line, start) if start - line <= _MOST_INDENT else None
    if marker is None:
        return start
    sign = marker["sign"]
    number = int(sign[:-1]) if sign[0].isdigit() else 0
    if number == 1 or (not number and not _FIGURE.match(text, start)):
        return start
    past = rf"{number - 1}[.)]" if number else re.escape(sign)
    if re.search(rf"^[ \t>]*{past}", text[max(0, line - _FARTHEST) : line], re.MULTILINE):
        return start
    return marker.start("sign")


def _count_of_one(text: str, pieces: Sequence[tuple[int, int]], sources: Sources, *, is_open: bool) -> int:
    """Return how many of some pieces, the first included, are one claim; 0 where that can't be said yet."""
    last = len(pieces)
    begun = text[slice(*pieces[0])]
    if sources.has_sentence(begun) or not sources.has_beginning(begun):
        return 1
    if is_open and last < _LONGEST and sources.has_beginning(text[pieces[0][0] : pieces[-1][1]]):
        return 0
    wholes = (count for count in range(last, 1, -1) if sources.has_sentence(text[pieces[0][0] : pieces[count - 1][1]]))
    return next(wholes, 1)
