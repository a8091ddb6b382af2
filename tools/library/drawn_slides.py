"""Slides as they are seen: which blocks of a text stand in which box of a slide, and its pictures in theirs.

They are found in a process that reads files. What no box is known of, such as a speaker's notes, stands in none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from tools.library.drawn_pictures import Block, letters_of
from tools.parsers.shape_order import Place

_LEAST_SIZE = 0.008  # of letters, for the slide's width
_WIDE = re.compile("[\u1100-\u115f\u2e80-\uffef]")
_LETTER, _LINE = 0.52, 1.25  # how wide and high a letter is, for its size

_MOST = 10  # slides, that a box is away or wide
_NARROWEST, _BROADEST = 0.1, 10  # for its height

Share = Annotated[float, Field(ge=-_MOST, le=_MOST, allow_inf_nan=False)]


class SlideBox(TypedDict):
    """A box of a slide, in shares of its width and height: the text from ``start`` to ``end``, or a picture.

    ``size`` is that of its letters, as a share of the slide's width.
    """

    left: Share
    top: Share
    width: Share
    height: Share
    size: Share
    start: int
    end: int
    picture: int | None


class LayoutSlide(TypedDict):
    """A slide by its number from 0, how wide it is for its height, and its boxes, the lowest first."""

    page_idx: int
    ratio: Annotated[float, Field(gt=_NARROWEST, lt=_BROADEST)]
    boxes: list[SlideBox]


SLIDES: TypeAdapter[list[LayoutSlide]] = TypeAdapter(list[LayoutSlide])


def slides_of(data: bytes, media_type: str, text: str, blocks: Iterable[Sequence[Any]]) -> Iterator[LayoutSlide]:
    """Yield the slides of a presentation with the given text; none of another file.

    A box that is far beyond its slide is left out. A broken file may raise anything, behind the slides before it.
    """
    from tools.parsers.slide_shapes import slides_in  # with all readers of office files

    pages = {page: list(own) for page, own in groupby((Block(*each) for each in blocks), lambda block: block.page_idx)}
    for page_idx, ratio, shapes in slides_in(data, media_type):
        if not _NARROWEST < ratio < _BROADEST:
            continue
        held = _blocks_in([letters_of(shape.words, "") for shape in shapes], text, pages.get(page_idx, []))
        boxes: list[SlideBox] = []
        for at, (place, _, size, picture) in enumerate(shapes):
            own = held.get(at, [])
            if (not own and picture is None) or not _is_near(place):
                continue
            lines = [text[each.start : each.end] for each in own]
            fitting = _fitting(min(size, 1.0), place.width, place.height / ratio, lines)
            start, end = (own[0].start, own[-1].end) if own else (0, 0)
            box = SlideBox(left=place.left, top=place.top, width=place.width, height=place.height, size=fitting,
                           start=start, end=end, picture=picture)  # fmt: skip
            boxes.append(box)
        yield LayoutSlide(page_idx=page_idx, ratio=ratio, boxes=boxes)


def _is_near(place: Place) -> bool:
    return all(-_MOST <= each <= _MOST for each in (place.left, place.top, place.width, place.height))


def _blocks_in(shapes: Sequence[str], text: str, blocks: Sequence[Block]) -> dict[int, list[Block]]:
    """Return which blocks each shape says, one after the other, by the letters of both."""
    held: dict[int, list[Block]] = {}
    current, reached = -1, 0
    for block in blocks:
        if block.kind == "label":
            break  # the speaker's notes
        letters = letters_of(text[block.start : block.end], block.kind)
        if not letters:
            continue
        place = shapes[current].find(letters, reached) if current >= 0 else -1
        if place < 0:
            found = next((at for at, said in enumerate(shapes) if at not in held and letters in said), -1)
            if found < 0 and block.kind == "table_row" and current >= 0:
                held[current].append(block)  # a merged cell says its words again
                continue
            current, place = found, shapes[found].find(letters) if found >= 0 else -1
        if current >= 0:
            held.setdefault(current, []).append(block)
            reached = place + len(letters)
    return held


def _fitting(size: float, width: float, height: float, lines: Sequence[str]) -> float:
    """Return how large letters may be for lines to stand in a box; as they are where nothing is known of it."""
    if width <= 0 or height <= 0:
        return size
    lengths = [len(line) + len(_WIDE.findall(line)) for line in lines]

    def needed() -> float:
        return sum(1 + length * _LETTER * size // width for length in lengths) * _LINE * size

    while size > _LEAST_SIZE and needed() > height:
        size *= 0.94
    return size
