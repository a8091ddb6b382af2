"""Quotes found on pages of PDF files whose every line is placed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.placed_pdf import Placed, column, placed_pdf
from tools.parsers.pdf import read
from tools.parsers.pdf_places import Box, PagePlace, find_boxes

WIDTH, HEIGHT = 595, 842


def found(data: bytes, quote: str, before: str = "", page_idx: int = 0) -> PagePlace:
    place = find_boxes(data, page_idx, quote, before)
    assert place is not None
    return place


def stands_at(box: Box, x: float, y: float) -> bool:
    """Whether a box stands on a base line and begins at a place of an upright page, in the file's own points."""
    return abs(box.left - x) < 2 and box.top < HEIGHT - y <= box.bottom + 3


@given(x=st.integers(20, 300), y=st.integers(30, 800), turned=st.sampled_from([0, 90, 180, 270]))
def test_a_line_is_found_where_it_was_placed(x: int, y: int, turned: int) -> None:
    place = found(placed_pdf([[Placed(x, y, "Lamps burn at night.")]], rotated=turned), "Lamps burn at night.")
    [box] = place.boxes
    assert (place.width, place.height) == ((WIDTH, HEIGHT) if turned in (0, 180) else (HEIGHT, WIDTH))
    assert 0 <= box.left < box.right <= place.width
    assert 0 <= box.top < box.bottom <= place.height
    start = {0: (x, HEIGHT - y), 90: (y, x), 180: (WIDTH - x, y), 270: (HEIGHT - y, WIDTH - x)}[turned]
    assert box.left - 12 <= start[0] <= box.right + 12
    assert box.top - 12 <= start[1] <= box.bottom + 12


def test_a_quote_of_many_lines_has_a_box_for_each() -> None:
    data = placed_pdf(
        [column(72, 700, ["The keeper lights the lamp and goes to", "sleep in the tower, which is", "cold."])]
    )
    boxes = found(data, read(data).text).boxes
    assert [stands_at(box, 72, y) for box, y in zip(boxes, (700, 688, 676), strict=True)] == [True] * 3


def test_of_two_places_the_context_chooses() -> None:
    lines = ["Red lamps:", "they burn all night.", "Blue lamps:", "they burn all night."]
    data = placed_pdf([column(72, 700, lines, step=40)])
    [first] = found(data, "they burn all night.", "Red lamps:\n\n").boxes
    [second] = found(data, "they burn all night.", "they burn all night.\n\nBlue lamps:\n\n").boxes
    [unknown] = found(data, "they burn all night.", "Green lamps:").boxes
    assert [stands_at(first, 72, 660), stands_at(second, 72, 580), stands_at(unknown, 72, 660)] == [True] * 3


def test_a_word_cut_at_a_line_end_and_cells_are_found() -> None:
    data = placed_pdf([column(72, 700, ["The keeper writes into the note-", "book every day."])])
    assert len(found(data, "the notebook every day").boxes) == 2
    row = placed_pdf([[Placed(72, 700, "Oslo"), Placed(200, 700, "12 degrees"), Placed(400, 700, "rain")]])
    boxes = found(row, "Oslo | 12 degrees | rain").boxes
    assert min(box.left for box in boxes) < 80
    assert max(box.right for box in boxes) > 400


def test_parts_that_the_page_has_in_another_order_are_found_one_by_one() -> None:
    data = placed_pdf([[*column(72, 700, ["second part of it"]), *column(72, 650, ["first half of all"])]])
    boxes = found(data, "first half of all second part of it").boxes
    assert [stands_at(boxes[0], 72, 650), stands_at(boxes[1], 72, 700)] == [True, True]


def test_words_that_are_not_there_have_no_box() -> None:
    data = placed_pdf([[Placed(72, 700, "Lamps burn at night.")]])
    for quote in ("ferries", "…", "", "a b c"):
        assert found(data, quote).boxes == (), quote


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4", b"no pdf", placed_pdf([[Placed(72, 700, "Text")]])])
def test_what_has_no_such_page_has_no_place(data: bytes) -> None:
    assert find_boxes(data, 7, "Text") is None
