"""What a viewer draws of a text that only its file says: formulas as it writes them, and runs of links to be folded.

They are found in a process that reads files, and told only where the text is still the one that was stored.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import groupby
from typing import Any, Literal

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from graph.errors import CitewellError
from tools.library.drawn_pictures import PICTURED
from tools.parsers.canonical_text import Block

# Media types of files that are looked into for what is drawn beside their text.
DRAWN = re.compile(rf"{PICTURED.pattern}|epub|rtf|x-(?:la)?tex|x-org|asciidoc|x-rst|ipynb")
MOST = 10_000  # formulas of a document
_LONGEST = 10_000  # letters of one
LEAST_LINKS = 8  # that are folded: what leads elsewhere is no text of the page itself


class LayoutFormula(TypedDict):
    """A formula of the text from ``start`` to ``end``, with its ``source`` in MathML or LaTeX."""

    start: int
    end: int
    notation: Literal["mathml", "latex"]
    source: str


class LayoutFold(TypedDict):
    """Lines of contents or links alone, ``count`` of them from ``start`` to ``end``, which a viewer may fold."""

    start: int
    end: int
    count: int


FORMULAS: TypeAdapter[list[LayoutFormula]] = TypeAdapter(list[LayoutFormula])
FOLDS: TypeAdapter[list[LayoutFold]] = TypeAdapter(list[LayoutFold])


def drawn_in(data: bytes, media_type: str, text: str) -> dict[str, Any]:
    """Return the formulas and folds of a file with the given text; none where it is read as another text today."""
    from tools.parsers import parse  # with all formats

    with suppress(CitewellError):
        parsed = parse(data, name="", media_type=media_type)
        if parsed.text == text:
            formulas = [
                LayoutFormula(start=each.start, end=each.end, notation=each.notation, source=each.source)
                for each in parsed.formulas[:MOST]
                if len(each.source) <= _LONGEST
            ]
            return {"formulas": formulas, "folds": _folds(parsed.blocks)}
    return {}


def _folds(blocks: Iterable[Block]) -> list[LayoutFold]:
    runs = groupby(blocks, lambda block: block.kind == "contents" or (block.linked and block.kind != "heading"))
    found = [list(run) for is_folded, run in runs if is_folded]
    return [LayoutFold(start=run[0].start, end=run[-1].end, count=len(run)) for run in found if len(run) >= LEAST_LINKS]
