"""Separated values and plain text: rows under their header, items and code under their lead-in, exact offsets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tests.contract.hanging_blocks import hanging
from tools.parsers import parse


def rows(text: str, name: str = "x.csv") -> list[tuple[str, list[str]]]:
    return [(words, above) for _, words, above in hanging(parse(text.encode(), name=name))]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_rows_hang_on_their_header(delimiter: str, newline: str) -> None:
    text = newline.join(["part,price,note", '"lid, round",2,"of ""tin""', 'or iron"', "", "foot,3,"]).replace(
        ",", delimiter
    )
    lid = f"lid{delimiter} round".replace("\t", " ").replace("  ", " ")
    assert rows(text) == [
        ("part | price | note", []),
        (f'{lid} | 2 | of "tin" or iron', ["part | price | note"]),
        ("foot | 3 |", ["part | price | note"]),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A;1,5\nB;2,5\n", ["A | 1,5", "B | 2,5"]),
        ("1,5;2,5\n3,5;4,5\n", ["1,5 | 2,5", "3,5 | 4,5"]),
        ("A\t1,5\nB\t2,5\n", ["A | 1,5", "B | 2,5"]),
        ("1,2\n4,5\n", ["1 | 2", "4 | 5"]),
        ("a;b,1\nc;d,2\n", ["a;b | 1", "c;d | 2"]),
        ('"a;b",1\n"c;d",2\n', ["a;b | 1", "c;d | 2"]),
    ],
)
def test_commas_within_numbers_divide_no_cells_where_another_sign_does(text: str, shown: list[str]) -> None:
    assert [words for words, _ in rows(text)] == shown


def test_captions_above_a_table_are_what_it_hangs_on() -> None:
    assert rows("Prices 2026;;\n\nname;price;tax\nlid;2,50;0,5\n") == [
        ("Prices 2026", []),
        ("name | price | tax", ["Prices 2026"]),
        ("lid | 2,50 | 0,5", ["Prices 2026", "name | price | tax"]),
    ]


def test_a_table_of_numbers_has_no_header() -> None:
    assert rows("1,2\n3,4\n") == [("1 | 2", []), ("3 | 4", [])]


def test_tabs_separate_where_the_name_says_so() -> None:
    assert rows("a,b\tc\n1,2\t3\n", "x.tsv") == [("a,b | c", []), ("1,2 | 3", ["a,b | c"])]


def test_a_quote_that_is_never_closed_is_a_sign_like_others() -> None:
    assert rows('size,part\n7",lid\n"8,foot\n') == [
        ("size | part", []),
        ('7" | lid', ["size | part"]),
        ('"8 | foot', ["size | part"]),
    ]


def test_a_cell_beyond_all_measure_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match=r"cell .* too long"):
        parse(("a,b\n" + "x" * 200_000 + ",c\n").encode(), name="x.csv")


@given(st.text(alphabet="ab1,;\t|\" \n\r'é灯", max_size=60))
def test_any_table_is_blocks_in_order(text: str) -> None:
    rows("head,line\n" + text)


TEXT = """Boiling
To boil water:
- fill it
  with care
  * cold
- wait

- pour

Then run:

    look now

    look again

It took
- or so they say -
3. of them.

 1) first

    and more
 2) second
"""


def test_items_and_code_of_plain_text_hang_on_their_lead_in() -> None:
    parsed = parse(TEXT.encode(), name="x.txt")
    lead, took = "Boiling\nTo boil water:", "It took\n- or so they say -\n3. of them."
    assert hanging(parsed) == [
        ("paragraph", lead, []),
        ("list_item", "- fill it\n  with care", [lead]),
        ("list_item", "* cold", [lead, "- fill it\n  with care"]),
        ("list_item", "- wait", [lead]),
        ("list_item", "- pour", [lead]),
        ("paragraph", "Then run:", []),
        ("code", "look now", ["Then run:"]),
        ("code", "look again", ["Then run:"]),
        ("paragraph", took, []),
        ("list_item", "1) first", [took]),
        ("paragraph", "and more", [took, "1) first"]),
        ("list_item", "2) second", [took]),
    ]
    assert parsed.text == TEXT


@given(st.text(alphabet="ab1.:- \t\n\r\f*)é灯：", max_size=80))
def test_plain_text_is_kept_and_its_blocks_cover_its_words(text: str) -> None:
    parsed = parse(("a" + text).encode(), name="x.txt")
    hanging(parsed)
    assert parsed.text == "a" + text


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.csv", "Branch,Cash,Debt\nHarbour,5,6\nTotal,,\n"),
        ("x.md", "| Branch | Cash | Debt |\n|---|---|---|\n| Harbour | 5 | 6 |\n| Total | | |\n"),
        ("x.html", "<table><tr><th>Branch<th>Cash<th>Debt<tr><td>Harbour<td>5<td>6<tr><td>Total<td><td></table>"),
        ("x.org", "| Branch | Cash | Debt |\n|---+---+---|\n| Harbour | 5 | 6 |\n| Total | | |\n"),
    ],
)
def test_a_row_that_is_nothing_but_its_name_answers_nothing(name: str, data: str) -> None:
    parsed = parse(data.encode(), name=name)
    assert [block.kind for block in parsed.blocks] == ["table_row", "table_row", "label"]


@pytest.mark.parametrize(
    "said", ["Visitors must sign in at the desk", "Hotline +49 30 1234567", "12 May 2026", "访客必须登记"]
)
def test_a_row_whose_first_cell_says_something_is_a_row(said: str) -> None:
    parsed = parse(
        f"| Rule | Exception |\n|---|---|\n| {said} | |\n| Dogs stay outside | guide dogs |\n".encode(), name="x.md"
    )
    assert [block.kind for block in parsed.blocks] == ["table_row"] * 3
