"""Where things stand on the slides of a presentation: its boxes of text and its pictures, in shares of the slide.

A viewer draws a slide as people know it. Parses what a stranger wrote: run it in a sandbox.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from lxml import etree

from tools.parsers.odf import DRAW, FO, PRESENTATION, STYLE, SVG, TABLE, OpenPackage, points
from tools.parsers.office_package import DRAWING, Package, open_package, whole_number
from tools.parsers.pictures import image_on_slide, is_kept_picture
from tools.parsers.pptx import GROUP, P, layout_places, place_of, placeholder_of, shapes_in, slides
from tools.parsers.shape_order import Place

MOST_SHAPES = 400  # of a slide
_POINT = 12_700  # of Office's units
_SIZES = dict.fromkeys(("subTitle", "subtitle", "outline", "body", "obj", ""), 24.0)  # points
_SIZES |= {"title": 40.0, "ctrTitle": 44.0}
_SIZE = 18.0
_NO_TEXT = (f"{SVG}title", f"{SVG}desc")


class Shape(NamedTuple):
    """A box of text, or the picture of a number among those of its file; ``size`` is that of its letters.

    All are shares of the slide's width, those from top to bottom of its height.
    """

    place: Place
    words: str
    size: float
    picture: int | None


class Slide(NamedTuple):
    """A slide, counted from 0, and how wide it is for its height."""

    page_idx: int
    ratio: float
    shapes: list[Shape]


def slides_in(data: bytes, media_type: str) -> Iterator[Slide]:
    """Yield the slides of a presentation; none of another file. Raises UnreadableDocument if it is broken."""
    if "presentationml" in media_type or "ms-powerpoint.pres" in media_type or "ms-powerpoint.slide" in media_type:
        yield from _in_presentation(open_package(data, f"{P}presentation", "a PowerPoint presentation"))
    elif "opendocument.presentation" in media_type:
        yield from _in_open_document(OpenPackage(data))


def _in_presentation(package: Package) -> Iterator[Slide]:
    root: Any = package.xml(package.main)
    extent = root.find(f"{P}sldSz")
    width, height = (whole_number(extent.get(name)) if extent is not None else 0 for name in ("cx", "cy"))
    if width <= 0 or height <= 0:
        return
    number = 0
    layouts: dict[str, dict[str, Place]] = {}
    for index, slide, part in slides(package):
        numbers: dict[Any, int] = {}
        related = package.related(part)
        for shape in slide.iter(f"{P}pic") if slide is not None else ():
            if image_on_slide(shape, related) is not None:
                numbers[shape] = number
                number += 1
        if slide is None:
            continue
        own = package.target(part, "slideLayout")
        layout = layouts.setdefault(own, layout_places(package, own) if own not in layouts else {})
        shapes: list[Shape] = []
        for shape, place in _placed(slide, layout, (1.0, 1.0, 0.0, 0.0)):
            letters = [each for each in shape.iter(f"{DRAWING}rPr", f"{DRAWING}defRPr", f"{DRAWING}endParaRPr")]
            sizes = (whole_number(each.get("sz")) / 100 for each in letters)
            usual = _SIZES.get(placeholder_of(shape) or "none", _SIZE)
            size = next((each for each in sizes if each > 0), usual)
            words = "" if shape in numbers else "".join(each.text or "" for each in shape.iter("{*}t"))
            share = Place(place.left / width, place.top / height, place.width / width, place.height / height)
            shapes.append(Shape(share, words, size * _POINT / width, numbers.get(shape)))
        yield Slide(index, width / height, shapes[:MOST_SHAPES])


def _placed(container: Any, layout: dict[str, Place], scale: tuple[float, ...]) -> Iterator[tuple[Any, Place]]:
    """Yield shapes with their places, those in a group in units of the slide."""
    across, down, left, top = scale
    for shape in shapes_in(container, in_groups=False):
        if shape.tag == GROUP:
            found = next((each for child in shape for each in child if each.tag.endswith("}xfrm")), None)
            parts = [[whole_number(each.get(name)) for name in names] for each, names in zip(
                found if found is not None else (), (("x", "y"), ("cx", "cy")) * 2, strict=False)]  # fmt: skip
            if len(parts) == 4 and parts[3][0] and parts[3][1]:
                (x, y), (wide, high), (own_x, own_y), (own_wide, own_high) = parts
                inner = (across * wide / own_wide, down * high / own_high)
                start = (left + across * x - inner[0] * own_x, top + down * y - inner[1] * own_y)
                yield from _placed(shape, layout, (*inner, *start))
            continue
        if (place := place_of(shape, layout)) is not None:
            start = (left + across * place.left, top + down * place.top)
            yield shape, Place(*start, across * place.width, down * place.height)


def _in_open_document(package: OpenPackage) -> Iterator[Slide]:
    root: Any = package.xml("content.xml")
    styles: Any = package.xml("styles.xml")
    if root is None or styles is None:
        return
    layouts = {each.get(f"{STYLE}name"): each for each in styles.iter(f"{STYLE}page-layout")}
    masters = {each.get(f"{STYLE}name"): layouts.get(each.get(f"{STYLE}page-layout-name"))
               for each in styles.iter(f"{STYLE}master-page")}  # fmt: skip
    number = 0
    for index, slide in enumerate(root.iter(f"{DRAW}page")):
        layout = masters.get(slide.get(f"{DRAW}master-page-name"))
        properties = layout.find(f"{STYLE}page-layout-properties") if layout is not None else {}
        width, height = (points(properties.get(FO + name)) or 0.0 for name in ("page-width", "page-height"))
        shapes: list[Shape] = []
        for shape in slide.iter(etree.Element):
            picture = None
            if shape.tag == f"{DRAW}image" and is_kept_picture(shape):
                picture, number = number, number + 1
                shape = shape.getparent()
                if shape.find(f"{TABLE}table") is not None:  # of which it is only a picture
                    continue
            elif shape.get(f"{SVG}x") is None or (
                shape.find(f"{DRAW}image") is not None and shape.find(f"{TABLE}table") is None
            ):
                continue
            if width <= 0 or height <= 0:
                continue
            place = Place(*(points(shape.get(SVG + name)) or 0.0 for name in ("x", "y", "width", "height")))
            share = Place(place.left / width, place.top / height, place.width / width, place.height / height)
            words = "".join(each.text or "" for each in shape.iter(etree.Element) if each.tag not in _NO_TEXT)
            size = _SIZES.get(shape.get(f"{PRESENTATION}class") or "none", _SIZE)
            words += "".join(each.tail or "" for each in shape.iterdescendants())
            shapes.append(Shape(share, "" if picture is not None else words, size / width, picture))
        if shapes:
            yield Slide(index, width / height, shapes[:MOST_SHAPES])
