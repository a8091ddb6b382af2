"""Sheets of small workbooks made here: what stands apart stays apart, and what is not in the text is told."""

from io import BytesIO
from zipfile import ZipFile

import pytest

from tests.contract.hanging_blocks import hanging
from tools.parsers import Parsed, parse
from tools.parsers.sheets import address

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
Value = str | float | None


def related(*parts: tuple[str, str]) -> str:
    every = (f'<Relationship Id="r{at}" Type="{OFFICE}/{kind}" Target="{target}"/>'
             for at, (kind, target) in enumerate(parts))  # fmt: skip
    return f'<Relationships xmlns="{PACKAGE}">{"".join(every)}</Relationships>'


def cell(row: int, column: int, value: Value) -> str:
    at = address("S", row, column).partition("!")[2]
    if value is None:
        return ""
    if isinstance(value, float | int):
        return f'<c r="{at}"><v>{value}</v></c>'
    if value.startswith("<"):  # the inside of a cell
        return f'<c r="{at}">{value}</c>'
    return f'<c r="{at}" t="inlineStr"><is><t>{value}</t></is></c>'


def workbook(rows: list[list[Value]], *, drawing: str = "", strings: str = "", extra: str = "") -> Parsed:
    """Parse a workbook of one sheet, with a drawing and shared strings where they are given."""
    data = "".join(
        f'<row r="{at + 1}">{"".join(cell(at, column, value) for column, value in enumerate(row))}</row>'
        for at, row in enumerate(rows)
    )
    parts = {
        "_rels/.rels": related(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r0"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": related(("worksheet", "s.xml"), ("sharedStrings", "strings.xml")),
        "xl/s.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData>{extra}</worksheet>',
    }
    if strings:
        parts["xl/strings.xml"] = f'<sst xmlns="{MAIN}">{strings}</sst>'
    if drawing:
        parts["xl/_rels/s.xml.rels"] = related(("drawing", "d.xml"))
        names = f'xmlns:xdr="{DRAWING}/spreadsheetDrawing" xmlns:a="{DRAWING}/main" xmlns:c="{DRAWING}/chart"'
        parts["xl/d.xml"] = f'<xdr:wsDr {names} xmlns:r="{OFFICE}">{drawing}</xdr:wsDr>'
        parts["xl/_rels/d.xml.rels"] = related(("chart", "c.xml"))
        title = "<c:title><c:tx><c:rich><a:p><a:r><a:t>Lamps a year</a:t></a:r></a:p></c:rich></c:tx></c:title>"
        parts["xl/c.xml"] = f"<c:chartSpace {names}><c:chart>{title}<c:plotArea/></c:chart></c:chartSpace>"
    made = BytesIO()
    with ZipFile(made, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return parse(made.getvalue(), name="x.xlsx")


def told(parsed: Parsed) -> list[tuple[str, list[str]]]:
    return [(words, above) for kind, words, above in hanging(parsed) if kind != "heading"]


def run(words: str, align: str = "") -> str:
    look = f'<rPr><vertAlign val="{align}"/></rPr>' if align else ""
    return f"<r>{look}<t>{words}</t></r>"


@pytest.mark.parametrize(
    ("runs", "shown"),
    [
        (run("1200") + run("3", "superscript") + run(" euros"), "1200 [3] euros"),
        (run("The rent was paid") + run("3", "superscript"), "The rent was paid [3]"),
        (run("CO") + run("2", "subscript"), "CO2"),
        ("<t>Tokyo</t><rPh><t>toukyou</t></rPh>", "Tokyo"),
    ],
)
def test_raised_and_lowered_runs_of_a_cell_are_apart(runs: str, shown: str) -> None:
    row = '<sheetData><row r="9"><c r="A9" t="s"><v>0</v></c></row></sheetData>'
    assert workbook([["a"]], strings=f"<si>{runs}</si>", extra=row).text == f"S\n\na\n\n{shown}"


def test_a_workbook_of_numbers_needs_no_strings_and_lost_ones_are_told() -> None:
    assert workbook([[1, 2], [3, 4]]).text.endswith("1 | 2\n3 | 4")
    row = '<sheetData><row r="9"><c r="A9" t="s"><v>0</v></c></row></sheetData>'
    assert workbook([[1, 2]], extra=row).warnings[0].startswith("1 cell ")


def test_tables_side_by_side_are_apart_under_the_title_of_both() -> None:
    parsed = workbook(
        [
            ["Prices of 2031"],
            ["Route", "Adult", None, "Dog", "Price"],
            ["North", 12, None, "Small", 3],
            ["South", 15, None, "Large", 5],
            ["Both", 30],
        ]
    )
    title, ferry, dog = "Prices of 2031", "Route | Adult", "Dog | Price"
    assert told(parsed) == [
        (title, []),
        (ferry, [title]),
        ("North | 12", [title, ferry]),
        ("South | 15", [title, ferry]),
        ("Both | 30", [title, ferry]),
        (dog, [title]),
        ("Small | 3", [title, dog]),
        ("Large | 5", [title, dog]),
    ]
    assert parsed.blocks[-1].anchor == "S!D4"


@pytest.mark.parametrize(
    "rows",
    [
        [["Item", None, "2024", None, "2025"], ["Oil", None, 5, None, 6], ["Wick", None, 7, None, 8]],
        [["Name", "Age", None, "Remark"], ["Ann", 5, None, "tall"], ["Bo", 6, None, "small"]],
        [["Name", "Age"], ["Ann", 5, None, "checked"], ["Bo", 6], ["Cy", 7, None, "checked"]],
    ],
)
def test_a_column_that_only_makes_room_divides_no_table(rows: list[list[Value]]) -> None:
    assert len(told(workbook(rows))) == len(rows)


def test_rows_of_a_form_are_about_what_its_first_row_names() -> None:
    parsed = workbook([["Project", "Lighthouse repair"], ["Manager", "Ilse Brandt"], ["Budget", 98000], ["End", "May"]])
    subject = "Project | Lighthouse repair"
    assert told(parsed)[1:] == [("Manager | Ilse Brandt", [subject]), ("Budget | 98000", [subject]),
                                ("End | May", [subject])]  # fmt: skip


def test_a_row_without_a_value_is_only_its_label_and_formulas_without_results_are_told() -> None:
    parsed = workbook([["Branch", "2030", "2031"], ["Harbour", 5, 6], ["Total", "<f>B2</f>", "<f>C2</f>"]])
    assert [(block.kind, parsed.text[block.start : block.end]) for block in parsed.blocks[2:]] == [
        ("table_row", "Harbour | 5 | 6"),
        ("label", "Total |  |"),
    ]
    assert [told.startswith("2 formulas") for told in parsed.left_out] == [True]


def test_a_very_wide_table_is_written_in_parts_each_under_its_own_header() -> None:
    names = [f"Measured at {at} o'clock" for at in range(80)]
    parsed = workbook([["Station", *names], ["North", *range(1000, 1080)], ["South", *range(2000, 2080)]])
    rows = told(parsed)
    found = next((words, above) for words, above in rows if "2057" in words)
    [header] = found[1]
    column = header.split(" | ").index("Measured at 57 o'clock")
    assert found[0].split(" | ")[0] == "South"
    assert found[0].split(" | ")[column] == "2057"
    assert max(len(words) for words, _ in rows) < 300
    assert [words.split(" | ")[0] for words, _ in rows] == ["Station", "North", "South"] * (len(rows) // 3)


def test_text_boxes_and_titles_of_charts_are_text_and_pictures_are_counted() -> None:
    box = (
        "<xdr:sp><xdr:txBody><a:p><a:r><a:t>Closed in</a:t></a:r><a:r><a:t> May</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
    )
    chart = '<xdr:graphicFrame><c:chart r:id="r0"/></xdr:graphicFrame>'
    parsed = workbook([["a", "b"], ["c", 1]], drawing=box + chart + "<xdr:pic/>" * 2)
    assert parsed.text.endswith("c | 1\n\nClosed in May\n\nLamps a year")
    assert sorted(told[:8] for told in parsed.left_out) == ["1 chart ", "2 pictur"]
