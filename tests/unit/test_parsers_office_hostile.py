"""Hostile office files: bombs, entities, macros, links to elsewhere, endless sheets, and any change of their parts."""

import io
import re
import zipfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tests.contract.parser_kit import check_parsed
from tools.parsers import parse
from tools.parsers.number_formats import shown
from tools.parsers.sheets import address

FOLDER = Path(__file__).parents[1] / "fixtures" / "documents"
NAMES = ["handbook.docx", "handbook.odt", "halls.pptx", "talk.odp", "workbook.xlsx", "workbook.ods"]
MAIN = {"docx": "word/document.xml", "pptx": "ppt/slides/slide1.xml", "xlsx": "xl/worksheets/sheet1.xml"}


@cache
def parts(name: str) -> dict[str, bytes]:
    with zipfile.ZipFile(FOLDER / name) as archive:
        return {each: archive.read(each) for each in archive.namelist()}


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, data in files.items():
            archive.writestr(each, data)
    return out.getvalue()


def changed(name: str, part: str, pattern: bytes, put: bytes) -> bytes:
    data, count = re.subn(pattern, lambda _: put, parts(name)[part], count=1)
    assert count
    return packed({**parts(name), part: data})


def main_of(name: str) -> str:
    return MAIN.get(name.rpartition(".")[2], "content.xml")


@pytest.mark.parametrize(("name", "size"), [*((name, 60_000_000) for name in NAMES), (NAMES[0], 450_000_000)])
def test_a_bomb_is_refused(name: str, size: int) -> None:
    data = packed({**parts(name), "media/bomb.bin": b"\0" * size})
    with pytest.raises(UnreadableDocument, match="not unpacked"):
        parse(data, name=name)


LAUGHS = b'<!DOCTYPE x [<!ENTITY a "ha ha ha ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize("name", NAMES)
def test_entities_are_refused(name: str) -> None:
    data = changed(name, main_of(name), rb"\A(<\?xml[^>]*>)?", b'<?xml version="1.0"?>' + LAUGHS)
    with pytest.raises(UnreadableDocument, match="document type"):
        parse(data, name=name)


@pytest.mark.parametrize("name", ["handbook.docx", "halls.pptx", "workbook.xlsx"])
def test_macros_are_left_out_and_said(name: str) -> None:
    folder = main_of(name).partition("/")[0]
    parsed = parse(packed({**parts(name), f"{folder}/vbaProject.bin": b"Sub Run()"}), name=f"x{name[-5:-1]}m")
    assert parsed.left_out[-1] == "Macros were left out."
    assert "Run()" not in parsed.text


@pytest.mark.parametrize("name", ["handbook.odt", "workbook.ods"])
def test_scripts_are_left_out_and_said(name: str) -> None:
    parsed = parse(packed({**parts(name), "Basic/Standard/Module1.xml": b"Sub Run()"}), name=name)
    assert parsed.left_out[-1] == "Macros were left out."


def test_what_lies_outside_of_the_file_is_never_opened() -> None:
    rels = "word/_rels/document.xml.rels"
    put = b'TargetMode="External" Target="file:///etc/hostname"'
    data = changed("handbook.docx", rels, rb'Target="footnotes.xml"', put)
    assert "At sea level" not in parse(data, name="x.docx").text
    climbing = changed("handbook.docx", rels, rb'Target="footnotes.xml"', b'Target="../../../../etc/hostname"')
    assert "At sea level" not in parse(climbing, name="x.docx").text


def test_the_strict_dialect_is_read_as_the_other() -> None:
    strict = {
        name: data.replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/", b"http://purl.oclc.org/ooxml/wordprocessingml/"
        )
        for name, data in parts("guide.docx").items()
    }
    assert parse(packed(strict), name="x.docx").text == parse(packed(parts("guide.docx")), name="x.docx").text


def test_a_sheet_with_cells_at_its_ends_takes_no_room_for_what_is_between() -> None:
    end = b'<row r="1048576"><c r="XFD1048576"><v>7</v></c></row></sheetData>'
    parsed = parse(changed("prices.xlsx", MAIN["xlsx"], rb"</sheetData>", end), name="x.xlsx")
    assert parsed.text.endswith("\n\n7")
    assert parsed.blocks[-1].anchor == "prices!XFD1048576"


def test_a_merged_cell_over_a_whole_sheet_says_its_words_only_where_there_are_others() -> None:
    merged = b'</sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    parsed = parse(changed("prices.xlsx", MAIN["xlsx"], rb"</sheetData>", merged), name="x.xlsx")
    assert len(parsed.blocks) == 5


@pytest.mark.parametrize("repeated", [b"table:number-rows-repeated", b"table:number-columns-repeated"])
def test_cells_that_repeat_without_end_are_refused(repeated: bytes) -> None:
    times = b'="999999999"'
    row = b"<table:table-row table:number-rows-repeated" + (times if b"rows" in repeated else b'="4000"')
    cell = b'><table:table-cell office:value-type="string" table:number-columns-repeated'
    cell += (times if b"columns" in repeated else b'="1"') + b"><text:p>x</text:p></table:table-cell></table:table-row>"
    data = changed("prices.ods", "content.xml", rb"</table:table>", row + cell + b"</table:table>")
    with pytest.raises(UnreadableDocument, match="more than 5,000,000 cells"):
        parse(data, name="x.ods")


def test_columns_with_blank_ones_between_them_are_told_apart_in_bounded_time() -> None:
    row = "".join(f'<c r="{address("x", 0, at).partition("!")[2][:-1]}%d"><v>7</v></c>' for at in range(0, 16_000, 2))
    rows = "".join(f'<row r="{at}">{row}</row>'.replace("%d", str(at)) for at in range(100, 120))
    data = changed("prices.xlsx", MAIN["xlsx"], rb"</sheetData>", rows.encode() + b"</sheetData>")
    assert len(parse(data, name="x.xlsx").blocks) > 20


def test_one_long_text_that_all_cells_share_is_refused() -> None:
    data = dict(parts("prices.xlsx"))
    data["xl/sharedStrings.xml"] = re.sub(
        rb"<si>.*?</si>", b"<si><t>" + b"lamp " * 400_000 + b"</t></si>", data["xl/sharedStrings.xml"], count=1
    )
    row = b'<row><c t="s"><v>0</v></c></row>' * 50
    data[MAIN["xlsx"]] = data[MAIN["xlsx"]].replace(b"</sheetData>", row + b"</sheetData>")
    with pytest.raises(UnreadableDocument, match="million letters"):
        parse(packed(data), name="x.xlsx")


@pytest.mark.parametrize("name", ["handbook.docx", "handbook.odt"])
def test_tables_within_tables_are_read_without_recursion_beyond_measure(name: str) -> None:
    word = name.endswith("docx")
    opening = b"<w:tbl><w:tr><w:tc><w:p/>" if word else b"<table:table><table:table-row><table:table-cell>"
    closing = b"</w:tc></w:tr></w:tbl>" if word else b"</table:table-cell></table:table-row></table:table>"
    deep = opening * 60 + closing * 60
    where = rb"<w:sectPr>" if word else rb"</office:text>"
    check_parsed(parse(changed(name, main_of(name), where, deep + where), name=name))
    deeper = opening * 5_000 + closing * 5_000
    with pytest.raises(UnreadableDocument, match="broken XML"):
        parse(changed(name, main_of(name), where, deeper + where), name=name)


def test_notes_on_notes_are_read_without_recursion_beyond_measure() -> None:
    note = b'<w:footnote w:id="%d"><w:p><w:r><w:t>on</w:t><w:footnoteReference w:id="%d"/></w:r></w:p></w:footnote>'
    chain = b"".join(note % (number, number + 1) for number in range(2, 5_000))
    every = rb"(?s)<w:footnote [^>]*>.*(?=</w:footnotes>)"
    parsed = parse(changed("handbook.docx", "word/footnotes.xml", every, chain), name="x.docx")
    check_parsed(parsed)
    assert "The keeper sleeps.\n[21] on\n" in parsed.text


def check(data: bytes, name: str) -> None:
    try:
        check_parsed(parse(data, name=name))
    except UnreadableDocument as error:
        assert error.message  # noqa: PT017


@given(st.sampled_from(NAMES), st.data())
def test_any_change_of_what_a_part_says(name: str, data: st.DataObject) -> None:
    """Values, names and elements of the parts are swapped, which archives and XML alone would let pass."""
    files = dict(parts(name))
    part = data.draw(st.sampled_from(sorted(each for each in files if each.endswith((".xml", ".rels")))))
    pieces = re.split(rb'("[^"]*"|<[^<>]*>)', files[part])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(pieces) - 1))
        other = data.draw(st.integers(0, len(pieces) - 1))
        odd = [b"", b'"-1"', b'"999999999999"', b'"A0"', b'"0"', b"\xff", b"&#xD83D;", b"1e999", b"nan", pieces[other]]
        pieces[at] = data.draw(st.sampled_from(odd))
    files[part] = b"".join(pieces)
    check(packed(files), name)


@given(st.floats(), st.text('0#?,.%eE+-/\\"[]$€;@_* General dmyhs', max_size=30), st.booleans())
def test_any_number_in_any_format(value: float, code: str, since_1904: bool) -> None:
    assert "\n" not in shown(value, code, since_1904=since_1904)


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (1234.5, "#,##0.00", "1,234.50"),
        (0.125, "0.0%", "12.5%"),
        (2.5, "0", "3"),
        (-5, "#,##0.00\\ [$€-407];[RED]-#,##0.00\\ [$€-407]", "-5.00 €"),
        (-5, '"$"#,##0_);("$"#,##0)', "($5)"),
        (45000, "yyyy\\-mm\\-dd", "2023-03-15"),
        (45000.5, "m/d/yy h:mm", "2023-03-15 12:00"),
        (0.75, "h:mm AM/PM", "6:00 PM"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (0, '"yes";"yes";"no"', "no"),
        (12, '0" kg"', "12 kg"),
        (7, "000", "007"),
        (0.5, "# ?/?", "1/2"),
        (-1, "yyyy-mm-dd", "-1"),
        (1e300, "0.00", "1E+300"),
    ],
)
def test_numbers_are_shown_as_their_formats_say(value: float, code: str, words: str) -> None:
    assert shown(value, code) == words


@pytest.mark.parametrize(("days", "since_1904", "date"), [(1, False, "1900-01-01"), (61, False, "1900-03-01"),
                                                          (0, True, "1904-01-01")])  # fmt: skip
def test_dates_begin_where_the_calendar_of_the_workbook_does(days: float, since_1904: bool, date: str) -> None:
    assert shown(days, "yyyy-mm-dd", since_1904=since_1904) == date


@pytest.mark.parametrize("inline", [True, False])
def test_a_form_that_nobody_has_filled_in_says_nothing(inline: bool) -> None:
    said = b"<w:r><w:t>Click here.</w:t></w:r>"
    form = b"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>%b</w:sdtContent></w:sdt>"
    put = b"<w:p>" + form % said + b"</w:p>" if inline else form % (b"<w:p>" + said + b"</w:p>")
    data = changed("handbook.docx", MAIN["docx"], rb"<w:sectPr>", put + b"<w:sectPr>")
    assert "Click here" not in parse(data, name="x.docx").text
