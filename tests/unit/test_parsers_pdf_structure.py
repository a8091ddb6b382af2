"""Blocks of PDF files: what is a running head, a table, a column; and what goes on over a page's end."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import pypdfium2 as pdfium
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.placed_pdf import Placed, column, placed_pdf
from tests.unit.test_parsers_pdf import PROSE, above, blocks, read
from tools.parsers import Parsed, parse
from tools.parsers.pdf_lines import read_page

PARTS = ("Part no", "Part", "Price")


def grid(y: float, rows: Sequence[Sequence[str]], lefts: Sequence[float], *, step: float = 16) -> list[Placed]:
    """Place the cells of a table row by row."""
    return [
        Placed(x, y - number * step, cell)
        for number, row in enumerate(rows)
        for x, cell in zip(lefts, row, strict=True)
        if cell
    ]


def rows_of(parsed: Parsed) -> list[str]:
    return [text for kind, text in blocks(parsed) if kind == "table_row"]


@pytest.mark.parametrize("step", [12, 14, 16, 18, 24])
def test_lines_of_a_log_are_no_running_heads(step: float) -> None:
    most = int(740 / step)
    pages = [
        [
            *column(60, 800, [f"Entry {page * most + at}: {at % 9 + 1} euros came." for at in range(most)], step=step),
            Placed(280, 20, f"Page {page + 1} of 5", size=8),
        ]
        for page in range(5)
    ]
    parsed = read(*pages)
    assert parsed.text.count("Entry") == 5 * most
    assert "Page" not in parsed.text
    assert [told.startswith("5 lines") for told in parsed.left_out] == [True]


@pytest.mark.parametrize("step", [12, 15, 18])
@pytest.mark.parametrize("headed", [True, False])
def test_a_table_that_goes_on_has_its_header_once_and_all_its_rows(step: float, headed: bool) -> None:
    rows = [(f"P-{at:04d}", "bolt", f"{at % 40 + 3}.50") for at in range(122)]
    pages = [
        grid(800, [PARTS] * (headed or not at) + rows[at : at + 40], (72, 180, 320), step=step)
        for at in range(0, 122, 40)
    ]
    parsed = read(*pages)
    told = [" | ".join(row) for row in (PARTS, *rows)]
    assert rows_of(parsed) == told
    assert all(above(parsed, row) == told[:1] for row in told[1:])
    assert len(parsed.left_out) == headed


def test_the_title_is_no_running_head_where_it_is_larger() -> None:
    pages = [
        [Placed(72, 800, "Kilns of the North", "bold", 20 if not page else 9), *column(72, 700, PROSE)]
        for page in range(5)
    ]
    assert [text for kind, text in blocks(read(*pages)) if kind == "heading"] == ["Kilns of the North"]


@pytest.mark.parametrize("sentence", ["The compiler has 14 macros of its own, which are these:", "It has 14 macros."])
def test_a_sentence_between_two_tables_is_text(sentence: str) -> None:
    first = grid(700, [("Name", "Size", "Use"), ("int", "16", "counts"), ("long", "32", "sums")], (100, 200, 300))
    second = grid(604, [("Macro", "Port"), ("LARGE", "8051"), ("SMALL", "8052")], (100, 250))
    parsed = read([*column(72, 760, PROSE[:1]), *first, Placed(72, 630, sentence), *second])
    assert ("paragraph", sentence) in blocks(parsed)
    assert rows_of(parsed)[2:4] == ["long | 32 | sums", "Macro | Port"]


def test_a_table_as_wide_as_the_page_has_whole_rows() -> None:
    numbers = [[str(row), *(f"{(row * 7 + at) % 90 / 10 - 4:.2f}" for at in range(10))] for row in range(40)]
    parsed = read(grid(800, numbers, [60 + 45 * at for at in range(11)], step=12))
    assert rows_of(parsed) == [" | ".join(row) for row in numbers]


LEFT = (
    "The board has read the yearly report of",
    "the harbour and found that the mooring",
    "fees were raised twice in one season",
    "without a vote of the members. It has",
    "asked the treasurer to pay them back.",
)
RIGHT = (
    "Work on the pier begins in April and is",
    "to last for eleven weeks. Until then all",
    "boats longer than twelve metres moor at",
    "the outer wall, where water is sold from",
    "six to nine in the morning.",
)


@pytest.mark.parametrize(("left", "right"), [(LEFT, RIGHT), (LEFT[:4], RIGHT), (LEFT, RIGHT[:4])])
@pytest.mark.parametrize("around", [True, False])
def test_short_facing_columns_are_read_one_after_the_other(
    left: Sequence[str], right: Sequence[str], around: bool
) -> None:
    page = [words for number in range(5) for words in column(72, 700 - 12 * number, left[number : number + 1])]
    page += column(300, 700, right)
    page.sort(key=lambda words: (-words.y, words.x))
    prose = column(72, 780, PROSE) if around else []
    assert " ".join(read([*prose, *page]).text.split()).endswith(" ".join((*left, *right)))


def test_cells_of_several_lines_are_whole_where_a_file_writes_cell_by_cell() -> None:
    page = [
        *grid(700, [("Berth", "What is in the price", "Price")], (72, 204, 400)),
        *column(72, 680, ["Outer wall north", "of the crane"]),
        *column(204, 686, ["Water, light and the", "washing house, and a", "place for one car"]),
        Placed(400, 674, "1,250.00"),
        *grid(640, [("Pier", "Water", "99.00")], (72, 204, 400)),
    ]
    parsed = read([*column(72, 780, PROSE), *page])
    assert rows_of(parsed) == [
        "Berth | What is in the price | Price",
        "Outer wall north of the crane | Water, light and the washing house, and a place for one car | 1,250.00",
        "Pier | Water | 99.00",
    ]


def test_narrow_gaps_below_each_other_are_between_columns() -> None:
    rows = [("Item", "Price", "Note"), ("Bolt", "12.50", "many"), ("Nut", "1.75", "few")]
    parsed = read([*column(72, 780, PROSE), *grid(700, rows, (72, 98, 130))])
    assert rows_of(parsed) == ["Item | Price | Note", "Bolt | 12.50 | many", "Nut | 1.75 | few"]


def test_a_number_below_a_number_is_another_row() -> None:
    rows = [("Land", "Town", "Boats"), ("North", "Lodd", "12"), ("", "Hull", "15"), ("South", "Bray", "7")]
    assert rows_of(read(grid(700, rows, (72, 160, 260), step=12)))[1:3] == ["North | Lodd | 12", "| Hull | 15"]


def test_a_numbered_list_below_a_table_is_a_list() -> None:
    rows = [("Item", "Price", "Note"), ("Bolt", "12.50", "many"), ("Nut", "1.75", "few")]
    parsed = read([*grid(700, rows, (72, 200, 330)), *grid(640, [("1.", "first"), ("2.", "second")], (84, 108))])
    assert blocks(parsed)[3:] == [("list_item", "1. first"), ("list_item", "2. second")]


@pytest.mark.parametrize(
    ("ends", "begins", "text"),
    [
        ("until the end of the con-", "tract. The fee stays.", "until the end of the contract.\n\fThe fee stays."),
        ("until the con-", "tract ends there.", "until the contract\fends there."),
        ("and keep the fee until", "the contract ends.", "and keep the fee until\fthe contract ends."),
        ("and keep the old fee.", "then it ends.", "and keep the old fee.\n\fthen it ends."),
    ],
)
@pytest.mark.parametrize("note", [True, False])
def test_a_sentence_goes_on_over_a_pages_end(ends: str, begins: str, text: str, note: bool) -> None:
    first = column(72, 150, [*PROSE[:3], ends])
    notes = [Placed(72, 60, "1 In winter it takes longer.", size=8)] if note and "-" not in ends else []
    parsed = read([*first, *notes], column(72, 780, [begins]))
    assert parsed.text.endswith(text) or (notes and "\n\f" in text)
    assert [block.page_idx for block in parsed.blocks][-1] == 1
    assert len(parsed.blocks) == 2 + len(notes)


def test_a_row_goes_on_over_a_pages_end() -> None:
    rows = [("Cone", "Heat", "Use"), ("04", "1060", "pots"), ("6", "1222", "stoneware that is")]
    parsed = read(
        grid(140, rows, (100, 200, 300), step=14),
        [Placed(300, 780, "glazed twice"), *grid(766, [("10", "1305", "cups")], (100, 200, 300))],
    )
    assert parsed.text.endswith("6 | 1222 | stoneware that is\f|  | glazed twice\n10 | 1305 | cups")
    assert above(parsed, "1305") == ["Cone | Heat | Use"]


WORDS = st.text(st.sampled_from("abcdefgHIJK12345. -:"), min_size=1, max_size=30)
TABLE = st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=2, max_size=12)


@given(
    st.lists(
        st.one_of(
            st.builds(grid, st.floats(200, 800), TABLE, st.just((60, 220, 380)), step=st.sampled_from([10, 14, 20])),
            st.builds(column, st.floats(40, 400), st.floats(200, 800), st.lists(WORDS, max_size=12)),
            st.builds(lambda *words: [Placed(*words)], st.floats(20, 500), st.floats(20, 820), WORDS),
        ),
        max_size=4,
    ),
    st.lists(st.builds(column, st.floats(40, 400), st.floats(200, 800), st.lists(WORDS, max_size=12)), max_size=3),
)
def test_every_letter_of_a_page_is_in_the_text_once(first: list[list[Placed]], second: list[list[Placed]]) -> None:
    pages = [[Placed(72, 400, "anchor"), *chain(*first)], [*chain(*second)]]
    data = placed_pdf(pages)
    with pdfium.PdfDocument(data) as document:
        shown = [line.text for at in range(len(document)) for line in read_page(document, at).lines]
    text = parse(data, name="x.pdf").text
    assert Counter(filter(str.isalnum, text)) == Counter(filter(str.isalnum, "".join(shown)))


@pytest.mark.parametrize("x", [72, 300, 560])
def test_a_line_without_spaces_is_read_as_far_as_the_page_shows_it(x: float) -> None:
    whole = "abcdefghij" * 12
    parsed = read([*column(72, 760, PROSE), Placed(x, 600, whole, "code"), Placed(-30, 500, "abcdefghij", "code")])
    seen = [text for _, text in blocks(parsed) if text in whole]
    shown = -(-(595 - x) // 6)  # letters of 6 points, of which the last reaches over the edge
    assert [abs(len(text) - count) <= 1 for text, count in zip(seen, (shown, 5), strict=True)] == [True, True]
    assert [told.startswith("2 words") for told in parsed.left_out] == [True]
