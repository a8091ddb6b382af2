"""The oracle of fidelity in small: files of real programs against the sources they were made of, and made ones.

It needs no other reader: what a file says is known. ``python -m research fidelity`` asks independent readers too.
"""

import io
import re
import zipfile
from pathlib import Path

import pytest

from research.fidelity.comparison import Compared, compare, plain
from research.fidelity.furniture import furniture_of
from research.fidelity.measure import Measured, pages_of, table
from research.fidelity.readers import READERS, glyphs_as_text
from tests.unit.placed_pdf import Placed, placed_pdf
from tools.parsers import parse

PUBLISHED = Path(__file__).parents[1] / "fixtures" / "published"
DOCUMENTS = PUBLISHED.with_name("documents")
_MARKUP = re.compile(r"(?m)^(?:---|title:|lang:|author:|```|\.\. |\s+:[\w-]+:).*$|\[\^\d+\]")
MADE_OF = {
    "tower.md": ["tower_pandoc.epub", "tower_pandoc.html", "tower_pandoc.odt", "tower_pandoc.rst", "tower_office.html"],
    "thap.md": ["thap_pandoc.docx", "thap_pandoc.epub", "thap_pandoc.html", "thap_mkdocs.html"],
    "ta.md": ["ta_pandoc.html", "ta_pandoc.txt"],
    "thap.rst": ["thap_docutils.html", "thap_chromium.pdf"],
    "ta.rst": ["ta_docutils.html"],
    "phi.csv": ["phi_office.csv"],
}
SHOWN = "The rent was 1200^3 euros. It holds 10^6 cells and 2_10 bits, 45^2 of 500. Then 7 remain."


def compared(data: bytes, name: str, *others: str) -> Compared:
    return compare(pages_of(parse(data, name=name)), {str(at): [other] for at, other in enumerate(others)})


@pytest.mark.parametrize(("source", "name"), [(source, name) for source in MADE_OF for name in MADE_OF[source]])
def test_a_published_file_holds_the_numbers_and_words_of_its_source(source: str, name: str) -> None:
    written = _MARKUP.sub("", (PUBLISHED / "sources" / source).read_text(encoding="utf-8"))
    text = "\n".join(pages_of(parse((PUBLISHED / name).read_bytes(), name=name)))
    found = compare([text], {"source": [written]})
    assert found.numbers
    assert (found.numbers_lost, found.flattened) == (0, 0), found.examples
    assert found.words_lost == 0, found.examples
    assert found.in_order >= 0.8 * found.ordered  # notes go to the end


@pytest.mark.parametrize("name", ["prices.xlsx", "prices.ods", "holidays_vi.ods", "stock_zh.xlsx"])
def test_a_workbook_holds_its_cells_as_they_are_stored(name: str) -> None:
    path = DOCUMENTS / name
    _, read = READERS[path.suffix]["stored"]
    found = compare(pages_of(parse(path.read_bytes(), name=name)), {"stored": [read(path)]})
    assert found.words
    assert found.words_lost == 0, found.examples


@pytest.mark.parametrize("suffix", ["html", "md"])
def test_raised_and_lowered_figures_of_markup_are_not_flattened(suffix: str) -> None:
    markup = re.sub(r"_(\d+)", r"<sub>\1</sub>", re.sub(r"\^(\d+)", r"<sup>\1</sup>", SHOWN))
    found = compared(f"<p>{markup}</p>\n".encode(), f"a.{suffix}", SHOWN)
    assert (found.flattened, found.numbers_lost, found.words_lost) == (0, 0, 0), found.examples


def test_raised_figures_of_a_pdf_are_not_flattened() -> None:
    line = [
        Placed(72, 700, "It holds 10"),
        Placed(122.5, 704, "6", size=6),
        Placed(127, 700, "cells and no more than that."),
    ]
    found = compared(placed_pdf([line]), "a.pdf", "It holds 10^6 cells and no more than that.")
    assert (found.flattened, found.numbers_lost, found.words_lost) == (0, 0, 0), found.examples


def test_what_is_lost_made_up_and_flattened_is_counted() -> None:
    found = compare(["Of 2112 keys 9 fit."], {"a": ["Of 2^112 keys 40 fit."], "b": ["Of 2112 keys 40 do fit."]})
    assert (found.numbers_lost, found.numbers_made_up, found.flattened) == (1, 1, 1)
    assert (found.words, found.words_lost, found.words_made_up) == (3, 0, 0)
    assert found.examples["flattened"] == ["2^112 as 2112 (p1)"]


def test_a_reader_that_tells_a_fraction_apart_may_have_the_joined_number_too() -> None:
    told = {"a": ["Of 1/10 of it."], "b": ["110. Of 1/10 of it."]}
    assert not compare(["110. Of 1/10 of it."], told).flattened
    assert compare(["110. Of 110 of it."], told).flattened == 1


def test_a_word_at_a_lines_end_may_be_whole_or_divided() -> None:
    assert not compare(["a mainland town"], {"a": ["a main-\nland town"]}).words_lost
    assert not compare(["a main-\nland town"], {"a": ["a mainland town"]}).words_made_up
    assert compare(["amain town"], {"a": ["a main town"]}).words_made_up == 1


def test_a_sentence_may_be_told_on_the_page_beside() -> None:
    found = compare(["It was lit in 1868", "again"], {"a": ["It was lit", "in 1868 again"]})
    assert (found.numbers_lost, found.numbers_made_up, found.words_lost) == (0, 0, 0)


def test_tokens_in_another_order_are_counted() -> None:
    found = compare(["one two three four five six"], {"a": ["four five six one two three"]})
    assert (found.ordered, found.in_order) == (4, 2)


def test_signs_of_several_parts_are_compared_by_their_parts() -> None:
    assert plain("10⁻³ H₂O 1½ ① ﬁn x₁₂ 2¹⁰²⁴") == "10^-^3 H_2O 1 1/2   1  fin x_12 2^1024"


def test_running_heads_and_page_numbers_are_furniture() -> None:
    pages = [f"Lamps of 1868\n\nFirst {word}\nof text\nmore\nand more\n\n{at}" for at, word in enumerate("abcde", 3)]
    furniture = furniture_of(Path("a.pdf"), {"poppler-layout": pages})
    assert ["Lamps of 1868" in page for page in furniture] == [True] * 5
    found = compare(["First of text more and more"] * 5, {"a": pages}, furniture)
    assert (found.numbers_lost, found.furniture, found.words_lost) == (0, 10, 0)


def test_small_glyphs_above_or_below_their_line_are_marked() -> None:
    def glyph(x: float, y: float, size: float, sign: str) -> str:
        quad = f"{x} {y - size} {x + 5} {y - size} {x} {y} {x + 5} {y}"
        return f'<font name="F" size="{size}">\n<char quad="{quad}" x="{x}" y="{y}" color="#0" c="{sign}"/>'

    glyphs = [glyph(0, 100, 10, "2"), glyph(5, 96, 6, "5"), glyph(10, 100, 10, "m"), glyph(15, 102, 6, "1")]
    assert glyphs_as_text("<line>".join(["<page>", *glyphs])).strip() == "2^5 m_1"


def test_the_table_tells_each_format_apart() -> None:
    files = [
        Measured("a.pdf", "pdf", "", False, (), Compared(numbers=1000, numbers_lost=2, ordered=10, in_order=9)),
        Measured("b.pdf", "pdf", "IndexError: x", True, (), Compared()),
    ]
    row = table(files).splitlines()[-1].split(" | ")
    assert row[:6] == ["| pdf", "2", "0", "1", "1,000", "2.00"]
    assert row[-1] == "90.00 |"


def test_a_file_of_openoffice_2_is_read_for_all_its_document_type() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(PUBLISHED / "tower_pandoc.odt") as archive, zipfile.ZipFile(written, "w") as older:
        for name in archive.namelist():
            old = b'<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd">'
            older.writestr(
                name, old + b"<manifest:manifest/>" if name == "META-INF/manifest.xml" else archive.read(name)
            )
    name = "tower_pandoc.odt"
    assert parse(written.getvalue(), name=name).text == parse((PUBLISHED / name).read_bytes(), name=name).text
