"""Where in its original a passage stands, as its readers call it: page, slide, or sheet and cell."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from typing_extensions import TypedDict

from graph.evidence import Segment

_CELL = re.compile(r"(?P<sheet>.+)!(?P<cell>\$?[A-Z]{1,3}\$?\d{1,7})(?::.*)?", re.DOTALL)
_SHEETS = ("spreadsheet", "excel", "csv", "tab-separated")
_SLIDES = ("presentation", "powerpoint")


Entry = TypeVar("Entry", bound=Mapping[str, Any])


class OriginalPlace(TypedDict, total=False):
    """A slide, counting from 0, or a sheet and its cell; nothing where the format has pages or no parts at all."""

    slide: int
    sheet: str
    cell: str


def original_place(media_type: str, page_idx: int | None, anchor: str) -> OriginalPlace:
    """Return the slide of a presentation, or the sheet and cell that an anchor of a workbook names."""
    if page_idx is not None and _is(media_type, _SLIDES):
        return OriginalPlace(slide=page_idx)
    cell = _CELL.fullmatch(anchor) if anchor and _is(media_type, _SHEETS) else None
    if cell is None:
        return OriginalPlace()
    sheet = cell["sheet"]
    if len(sheet) > 1 and sheet[0] == sheet[-1] == "'":
        sheet = sheet[1:-1].replace("''", "'")
    return OriginalPlace(sheet=sheet, cell=cell["cell"].replace("$", ""))


def place_of(entry: Mapping[str, Any]) -> OriginalPlace:
    """Return the slide, or the sheet and cell, of a source or a citation."""
    return cast(OriginalPlace, {name: entry[name] for name in ("slide", "sheet", "cell") if name in entry})


def with_place(entry: Entry, place: OriginalPlace) -> Entry:
    """Return a source, a citation or a quote with its place, whose names all of them have."""
    return cast(Entry, {**entry, **place})


def said_place(place: Mapping[str, Any]) -> str:
    """Return in English where a source or citation stands: "slide 3", "sheet Prices, A3", "page 3", or nothing."""
    if "slide" in place:
        return f"slide {place['slide'] + 1}"
    if "sheet" in place:
        return f"sheet {place['sheet']}" + (f", {place['cell']}" if "cell" in place else "")
    page_idx = place["page_idx"]
    return "" if page_idx is None else f"page {page_idx + 1}"


def said_segment_place(segment: Segment) -> str:
    """Return in English where a segment stands; of a sheet it names no cell, for it has many rows."""
    return said_place({"page_idx": segment.page_idx, **segment_place(segment)})


def segment_place(segment: Segment) -> OriginalPlace:
    """Return the slide or the sheet of a segment."""
    anchor = next((block.anchor for block in segment.blocks if block.anchor), "")
    place = original_place(segment.media_type, segment.page_idx, anchor)
    place.pop("cell", None)
    return place


def _is(media_type: str, kinds: tuple[str, ...]) -> bool:
    return any(kind in media_type for kind in kinds)
