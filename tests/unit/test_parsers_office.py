"""Office files made by LibreOffice and pandoc: titles, headings, lists, notes, tables, slides and sheets, exactly."""

import json
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from graph.errors import UnreadableDocument
from tests.contract.hanging_blocks import hanging
from tools.parsers import Parsed, parse

FOLDER = Path(__file__).parents[1] / "fixtures" / "documents"
CORPUS: dict[str, dict[str, Any]] = json.loads((FOLDER.parent / "corpus.json").read_text(encoding="utf-8"))
SUFFIXES = (".docx", ".odt", ".xlsx", ".ods", ".pptx", ".odp")
EXPECTED = {name.partition("/")[2]: told for name, told in CORPUS.items()
            if name.startswith("documents/") and name.endswith(SUFFIXES)}  # fmt: skip


def read(name: str) -> Parsed:
    return parse((FOLDER / name).read_bytes(), name=name)


DUTIES = [
    ("paragraph", "Running head of the handbook", []),
    ("heading", "Keeper's handbook", []),
    ("heading", "Duties", []),
    ("paragraph", "The keeper lights the lamp at dusk. The keeper sleeps.", []),
    ("footnote", "[1] At sea level, dusk is at sunset.", ["The keeper lights the lamp at dusk. The keeper sleeps."]),
    ("footnote", "[i] By law since 1902.", ["The keeper lights the lamp at dusk. The keeper sleeps."]),
    ("paragraph", "Each night the keeper checks:", []),
    ("list_item", "1. the oil;", ["Each night the keeper checks:"]),
    ("list_item", "2. the wick;", ["Each night the keeper checks:"]),
    ("list_item", "3. the glass.", ["Each night the keeper checks:"]),
]


@pytest.mark.parametrize("name", ["handbook.docx", "handbook.odt"])
def test_notes_hang_on_their_paragraph_and_numbers_are_those_shown(name: str) -> None:
    parsed = read(name)
    blocks = hanging(parsed)
    assert blocks[: len(DUTIES)] == DUTIES
    assert blocks[-5:] == [
        ("quote", "Never mix oils.", []),
        ("paragraph", "Run the test:", []),
        ("code", "lamp --test\n  --all", ["Run the test:"]),
        ("paragraph", "The tower has a bell.", []),
        ("paragraph", "The bell rings in fog.", []),
    ]
    for gone in ("by day", "secret", "salt"):
        assert gone not in parsed.text
    assert {block.anchor for block in parsed.blocks if block.heading.endswith("Duties")} == {"", "duties"}


@pytest.mark.parametrize("name", ["guide.docx", "guide.odt", "guide_again.docx"])
def test_lists_nest_and_definitions_hang_on_their_terms(name: str) -> None:
    parsed = read(name)
    blocks = hanging(parsed)
    at = [words for _, words, _ in blocks].index("You need:")
    assert blocks[at : at + 9] == [
        ("paragraph", "You need:", []),
        ("list_item", "1. a wick", ["You need:"]),
        ("list_item", "  - cotton", ["You need:", "1. a wick"]),
        ("list_item", "  - flax", ["You need:", "1. a wick"]),
        ("list_item", "2. a lid", ["You need:"]),
        ("term", "Wick", []),
        ("paragraph", "The thread that burns.", ["Wick"]),
        ("term", "Reservoir", []),
        ("paragraph", "Where the oil is kept. It holds half a litre.", ["Reservoir"]),
    ]
    assert "See the shop." in parsed.text
    assert "It was polished. Its light reaches 10^6 bugs." in parsed.text
    assert [block.anchor for block in parsed.blocks if block.heading == "Lamp guide > Lamps"][-1] == "lamps"


@pytest.mark.parametrize("name", ["tracked.docx", "tracked.odt"])
def test_deleted_text_and_comments_are_left_out(name: str) -> None:
    assert read(name).text == "Lids\n\nThe lid is made of brass. Check it twice a year."


@pytest.mark.parametrize("name", ["talk.pptx", "talk.odp"])
def test_a_slide_is_a_page_with_its_notes(name: str) -> None:
    parsed = read(name)
    oil = ("list_item", "- oil", ["They need:"])
    assert hanging(parsed)[1:8] == [
        ("heading", "Why lamps", []),
        ("paragraph", "They need:", []),
        oil,
        ("list_item", "  - colza", ["They need:", "- oil"]),
        ("list_item", "- a wick", ["They need:"]),
        ("label", "Speaker notes", []),
        ("paragraph", "Show the brass lamp. It weighs two kilograms.", ["Speaker notes"]),
    ]
    assert [block.page_idx for block in parsed.blocks if block.kind == "heading"] == [0, 1, 2, 3, 4]
    assert parsed.page_count == 5


@pytest.mark.parametrize("name", ["workbook.xlsx", "workbook.ods"])
def test_rows_have_the_addresses_of_their_cells(name: str) -> None:
    parsed = read(name)
    anchors = {parsed.text[block.start : block.end].split(" | ")[0]: block.anchor for block in parsed.blocks}
    assert anchors["Tower"] == "'Price list'!A5"
    assert anchors["2023-03-15"] == "'Price list'!B11"
    assert anchors["North"] == "Notes!B7"
    for hidden in ("Old", "Secret", "Cost", "Was 1100"):
        assert hidden not in parsed.text


@pytest.mark.parametrize("name", ["prices.xlsx", "prices.ods", "stock_zh.xlsx", "holidays_vi.ods", "workbook.xlsx"])
def test_no_cell_is_lost_that_calamine_reads(name: str) -> None:
    """Numbers and dates are shown in another way by each; words, and how much there is of all, are the same."""
    parsed = read(name)
    said = set(parsed.text.replace("\n", " | ").replace("\f", "").split(" | "))
    book = CalamineWorkbook.from_path(FOLDER / name)
    for at, sheet in enumerate(book.sheets_metadata):
        for row in book.get_sheet_by_index(at).to_python() if at in EXPECTED[name]["pages"] else ():
            words = {" ".join(cell.split()) for cell in row if isinstance(cell, str) and cell.strip()}
            assert words <= said | {"Old", "Secret", "a", "b"}, sheet.name


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_file_without_a_suffix_is_known_by_its_parts(name: str) -> None:
    assert parse((FOLDER / name).read_bytes(), name="upload").text == read(name).text


@pytest.mark.parametrize(
    ("name", "why", "advice"),
    [
        ("locked.docx", "encrypted", "without a password"),
        ("locked.xlsx", "encrypted", "without a password"),
        ("locked.odt", "encrypted", "without a password"),
        ("old.doc", r"old format \.doc", r"Save it as \.docx, or install LibreOffice"),
        ("old.xls", r"old format \.xls", r"Save it as \.xlsx, or install LibreOffice"),
    ],
)
@pytest.mark.parametrize("renamed", [None, "upload"])
def test_what_cannot_be_read_is_refused_with_what_would_help(
    name: str, why: str, advice: str, renamed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.parsers.programs.libreoffice", lambda: None)
    if renamed and name == "locked.odt":
        name, renamed = "locked.odt", "locked.odt"
    with pytest.raises(UnreadableDocument, match=why) as refused:
        parse((FOLDER / name).read_bytes(), name=renamed or name)
    assert advice.replace("\\", "") in refused.value.advice


@pytest.mark.parametrize(("name", "other"), [("talk.pptx", "x.docx"), ("prices.xlsx", "x.pptx"), ("guide.odt", "x.ods"),
                                             ("guide.docx", "x.odt"), ("old.doc", "x.docx")])  # fmt: skip
def test_a_wrong_suffix_is_refused(name: str, other: str) -> None:
    with pytest.raises(UnreadableDocument):
        parse((FOLDER / name).read_bytes(), name=other)
