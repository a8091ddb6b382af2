"""Structure of PDF files: headings, paragraphs, lists, terms, code, tables; and what is left out."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tests.unit.placed_pdf import Placed, column, placed_pdf
from tools.parsers import Parsed, parse, pdf, pdf_lines

PROSE = [
    "The kiln is fired twice. The first firing dries the clay slowly, and it must",
    "never be hurried, as water that cannot leave the wall in time bursts it, and",
    "with it every pot that stands on the same shelf. The second one melts glaze.",
]
# What the letters of the font "mapped" stand for: signs that show nothing, or that nobody can read.
UNREADABLE = {
    "a": "\x0c",
    "b": "\x1c",
    "A": "\x00",
    "B": "\x01",
    "C": "\u200b",
    "D": "\xa0",
    "E": "\u2028",
    "F": "\x0b",
}


def blocks(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind, parsed.text[block.start : block.end]) for block in parsed.blocks]


def above(parsed: Parsed, words: str) -> list[str]:
    """Return what the block with these words hangs on."""
    block = next(each for each in parsed.blocks if words in parsed.text[each.start : each.end])
    return [parsed.text[parsed.blocks[index].start : parsed.blocks[index].end] for index in block.hangs_on]


def read(*pages: list[Placed], title: str = "", outline: list[tuple[str, int]] | None = None) -> Parsed:
    return parse(placed_pdf(pages, title=title, outline=outline or [], mapped=UNREADABLE), name="x.pdf")


def marked(*parts: tuple[str, float, float]) -> list[Placed]:
    """Place the parts of a line one after the other, each with its size and how much it is raised."""
    x, placed = 72.0, []
    for text, size, rise in parts:
        placed.append(Placed(round(x, 2), 700 + rise, text, "code", size))
        x += 0.6 * size * len(text)
    return placed


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        ([("a hall of 10", 10, 0), ("6", 7, 4), (" seats", 10, 0)], "a hall of 10^6 seats"),
        ([("about 2.5 x 10", 10, 0), ("-4", 7, 4), (" parts", 10, 0)], "about 2.5 x 10^-4 parts"),
        ([("a yard of 40 m", 10, 0), ("2", 7, 4), (".", 10, 0)], "a yard of 40 m^2."),
        ([("much CO", 10, 0), ("2", 7, -2), (" and H", 10, 0), ("2", 7, -2), ("O", 10, 0)], "much CO2 and H2O"),
        ([("the log", 10, 0), ("10", 7, -2), (" of x", 10, 0), ("1", 7, -2)], "the log_10 of x_1"),
        ([("the 1", 10, 0), ("st", 7, 4), (" of May", 10, 0)], "the 1st of May"),
        ([("said before.", 10, 0), ("12", 7, 4), (" Then", 10, 0)], "said before. [12] Then"),
        ([("2", 10, 0), ("n-1", 7, 4), (" ways", 10, 0)], "2^(n-1) ways"),
    ],
)
def test_raised_and_lowered_words_stay_apart(parts: list[tuple[str, float, float]], line: str) -> None:
    assert read(marked(*parts)).text == line


def test_a_raised_number_is_a_note_where_the_page_has_that_note() -> None:
    fee = marked(("The fee was 1200", 10, 0), ("3", 7, 4), (" euros, 5 x 10", 10, 0), ("3", 7, 4), (" before.", 10, 0))
    notes = [Placed(72, 90, "3", "text", 6), Placed(76, 87, "Without tax.", "text", 8)]
    text = read([*fee, *column(72, 660, PROSE), *notes]).text
    assert text.startswith("The fee was 1200 [3] euros, 5 x 10^3 before.")
    assert text.endswith("3 Without tax.")


def test_figures_above_each_other_are_a_fraction() -> None:
    page = [
        Placed(72, 700, "Take"),
        Placed(97, 704, "3", size=7),
        Placed(97, 695, "4", size=7),
        Placed(104, 700, "cup."),
    ]
    assert read(page).text == "Take 3/4 cup."


def test_a_gap_without_a_space_is_one() -> None:
    shown = "BT /text 10 Tf 72 700 Td [(0) -300 (1) -300 (2) -300 (10) -300 (removed) -170 (from)] TJ ET"
    assert read([Placed(72, 680, "The last line.", drawing=shown)]).text.startswith("0 1 2 10 removed from")


def test_letters_that_are_set_apart_for_their_looks_are_words() -> None:
    shown = "BT /bold 14 Tf 4 Tc 72 700 Td (BRIEF CONTENTS) Tj ET"
    assert "BRIEF CONTENTS" in read([Placed(72, 600, PROSE[0], drawing=shown)]).text


def test_an_accent_of_its_own_is_set_on_its_letter() -> None:
    page = [Placed(72, 700, "zur"), Placed(86.7, 700, "\xa8"), Placed(85.4, 700, "uck")]
    assert read(page).text == "zur\xfcck"


LIGATURES = {"1": "\x1c", "2": "\x1d", "3": "\x0e", "4": "\ue123", "5": "\x01"} | {
    letter: letter for letter in " abcdefghijklmnopqrstuvwxyz"
}


@pytest.mark.parametrize(
    ("signs", "words"),
    [("signi1cance", "significance"), ("a 1t", "a fit"), ("2uctuation", "fluctuation"), ("o3ce", "office")],
)
def test_ligatures_of_fonts_without_names_are_letters(signs: str, words: str) -> None:
    assert parse(placed_pdf([[Placed(72, 700, signs, "mapped")]], mapped=LIGATURES), name="x.pdf").text == words


def test_signs_without_a_letter_are_told_and_join_nothing() -> None:
    parsed = parse(placed_pdf([[Placed(72, 700, "fa4ade and 5 on", "mapped")]], mapped=LIGATURES), name="x.pdf")
    assert parsed.text == "fa\ufffdade and on"
    assert parsed.left_out[0].startswith("2 signs have no letter")


def test_a_page_of_signs_without_letters_is_refused_or_told() -> None:
    signs = [Placed(72, 700 - 12 * number, "4545 4545", "mapped") for number in range(9)]
    with pytest.raises(UnreadableDocument, match="fonts don't say"):
        parse(placed_pdf([signs], mapped=LIGATURES), name="x.pdf")
    parsed = parse(placed_pdf([signs, column(72, 700, PROSE)], mapped=LIGATURES), name="x.pdf")
    assert parsed.text == " ".join(PROSE)
    assert parsed.left_out[0].startswith("1 of 2 pages was left out")


HEBREW = {letter: chr(0x5D0 + number) for number, letter in enumerate("abcdefghijklmnopqrstuvwxyzA")} | {
    each: each for each in " 0123456789.:,-()BCDEFG"
}


@pytest.mark.parametrize(
    ("seen", "read_as"),
    [
        (".abc de fgh", "hgf ed cba."),
        ("cba 45.50 fed", "def 45.50 abc"),
        ("fed BCD EFG 12:30 cba", "abc BCD EFG 12:30 def"),
        ("BCD cba fed EFG", "BCD def abc EFG"),
    ],
)
def test_right_to_left_lines_are_sentences(seen: str, read_as: str) -> None:
    page = [Placed(72, 700, seen, "mapped"), Placed(72, 680, "abcdef abcdef abcdef", "mapped")]
    wanted = "".join(HEBREW.get(letter, letter) for letter in read_as)
    assert wanted in parse(placed_pdf([page], mapped=HEBREW), name="x.pdf").text


FIELD = "/Subtype /Widget /F 4 /Rect [180 695 400 712]"


@pytest.mark.parametrize(
    ("annotation", "line"),
    [
        (f"{FIELD} /FT /Tx /T (a) /V (Sea Thistle)", "Name of the boat: Sea Thistle"),
        (f"{FIELD} /FT /Ch /Ff 131072 /T (a) /V (c) /Opt [[(b) (Barge)] [(c) (Cruiser)]]", "Name of the boat: Cruiser"),
        (
            f"{FIELD} /FT /Btn /T (a) /V /Yes /AS /Yes /AP << /N << /Yes null /Off null >> >>",
            "Name of the boat: \u2612",
        ),
        ("/Subtype /FreeText /F 4 /Rect [180 695 400 712] /Contents (Sea Thistle)", "Name of the boat: Sea Thistle"),
    ],
)
def test_values_of_a_form_are_read_at_their_place(annotation: str, line: str) -> None:
    page = [Placed(72, 700, "Name of the boat:"), *column(72, 660, PROSE)]
    parsed = parse(placed_pdf([page], annotations=[annotation]), name="x.pdf")
    assert [text for _, text in blocks(parsed)] == [line, " ".join(PROSE)]


def test_comments_are_counted_and_hidden_fields_are_not_read() -> None:
    notes = [
        "/Subtype /Text /Rect [60 700 80 720] /Contents (Ask Ana.)",
        "/Subtype /Highlight /Rect [60 700 80 720] /QuadPoints [60 700 80 700 60 720 80 720] /Contents (Why?)",
        f"{FIELD.replace('/F 4', '/F 2')} /FT /Tx /T (a) /V (secret)",
    ]
    parsed = parse(placed_pdf([column(72, 700, PROSE)], annotations=notes), name="x.pdf")
    assert parsed.text == " ".join(PROSE)
    assert parsed.left_out == ("2 comments were left out.",)


@pytest.mark.parametrize("cover", ["0 g 70 590 90 20 re f", "1 g 70 590 90 20 re f"])
def test_text_below_a_later_area_is_left_out(cover: str) -> None:
    page = [Placed(72, 600, "Harald Vint"), Placed(72, 560, "was seen at the mill.", drawing=f"{cover} 0 g")]
    parsed = read(page)
    assert parsed.text == "was seen at the mill."
    assert ["2 words" in told for told in parsed.left_out] == [True]


def test_text_above_an_area_or_beside_it_is_kept() -> None:
    page = [Placed(72, 600, "Danger", drawing="0.9 g 60 590 200 30 re f 0 g"), Placed(72, 500, "Keep out")]
    assert read([*page, Placed(72, 480, "!", drawing="0.5 g 300 590 50 30 re f 0 g")]).left_out == ()


def test_names_of_pages_are_kept_where_they_are_not_plain_numbers() -> None:
    pages = [column(72, 700, PROSE)] * 3
    labels = "/PageLabels << /Nums [0 << /S /r >> 2 << /S /D >>] >>"
    assert parse(placed_pdf(pages, catalog=labels), name="x.pdf").metadata == {"page_labels": ["i", "ii", "1"]}
    assert parse(placed_pdf(pages), name="x.pdf").metadata == {}


def test_a_page_that_fails_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_some(document: object, page_idx: int) -> pdf_lines.Page:
        if page_idx == 1:
            raise IndexError
        return pdf_lines.read_page(document, page_idx)

    monkeypatch.setattr(pdf, "read_page", read_some)
    parsed = read(*[column(72, 700, PROSE)] * 3)
    assert [block.page_idx for block in parsed.blocks] == [0, 2]
    (told,) = parsed.left_out
    assert told.startswith("Page 2 ")
    assert "IndexError" in told


def test_where_the_structure_fails_the_lines_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr(pdf, "find_headings", fail)
    parsed = read(column(72, 700, PROSE))
    assert [text for _, text in blocks(parsed)] == PROSE
    assert "fault of Citewell (KeyError)" in parsed.warnings[0]


def test_the_lines_of_a_paragraph_are_joined() -> None:
    parsed = read(column(72, 700, [*PROSE, "", *PROSE]))
    assert blocks(parsed) == [("paragraph", " ".join(PROSE))] * 2


@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("signs", [*UNREADABLE, "ab", "a B", "b C"])
def test_a_line_that_nobody_can_read_costs_no_other_its_words(signs: str, place: int) -> None:
    """A bracket of a formula in a TeX font without names is U+000C, which Python takes for white space."""
    lines = column(72, 700, [*PROSE[:place], "", *PROSE[place:]])
    parsed = read([*lines[:place], Placed(72, 700 - 12 * place, signs, "mapped"), *lines[place:]])
    assert parsed.text.split() == " ".join(PROSE).split()


def test_a_line_that_nobody_can_read_is_no_page_number_either() -> None:
    pages = [[Placed(290, 800, "a", "mapped"), *column(72, 700, PROSE), Placed(290, 40, "b", "mapped")]] * 4
    assert blocks(read(*pages)) == [("paragraph", " ".join(PROSE))] * 4


def test_an_indented_first_line_begins_a_paragraph() -> None:
    first = Placed(87, 700, PROSE[0])
    second = Placed(87, 664, PROSE[0])
    parsed = read([first, *column(72, 688, PROSE[1:]), second, *column(72, 652, PROSE[1:])])
    assert blocks(parsed) == [("paragraph", " ".join(PROSE))] * 2


def test_headings_are_known_by_the_outline() -> None:
    pages = [
        [Placed(72, 740, "1 Kilns", "bold"), *column(72, 720, PROSE)],
        [Placed(72, 740, "Glazes", "bold"), *column(72, 720, PROSE)],
    ]
    parsed = read(*pages, outline=[("Kilns", 0), ("Glazes", 1)])
    assert [text for kind, text in blocks(parsed) if kind == "heading"] == ["1 Kilns", "Glazes"]
    assert [block.heading for block in parsed.blocks if block.kind == "paragraph"] == ["1 Kilns", "Glazes"]


def test_a_heading_may_stand_on_the_first_line_of_its_paragraph() -> None:
    page = [Placed(72, 720, "Cones", "bold"), Placed(112, 720, "are set before the door, and bend when it is hot.")]
    parsed = read([*page, *column(72, 708, PROSE)], outline=[("Cones", 0)])
    assert blocks(parsed)[0] == ("heading", "Cones")
    assert blocks(parsed)[1][1].startswith("are set before the door")


def test_without_an_outline_size_and_number_tell_headings() -> None:
    page = [
        Placed(72, 780, "3 Firing", "bold", 16),
        *column(72, 750, PROSE),
        Placed(72, 690, "3.1 The first firing", "bold", 12),
        *column(72, 670, PROSE),
    ]
    parsed = read(page)
    assert parsed.blocks[-1].heading == "3 Firing > 3.1 The first firing"


def test_running_heads_and_page_numbers_are_left_out() -> None:
    pages = [
        [
            Placed(72, 800, f"Chapter {1 + number // 4}: Kilns"),
            Placed(500, 800, str(number + 3)),
            *column(72, 700, PROSE),
        ]
        for number in range(8)
    ]
    parsed = read(*pages)
    assert blocks(parsed) == [("paragraph", " ".join(PROSE))] * 8


def test_lone_page_numbers_at_the_foot_are_left_out() -> None:
    pages = [[*column(72, 700, PROSE), Placed(290, 40, str(number + 1))] for number in range(4)]
    assert blocks(read(*pages)) == [("paragraph", " ".join(PROSE))] * 4


def test_pages_of_one_line_keep_it() -> None:
    assert len(read(*([Placed(72, 700, "Closed on Mondays.")] for _ in range(5))).blocks) == 5


def test_list_items_hang_on_their_lead_in() -> None:
    page = [
        *column(72, 720, [*PROSE[:2], "Before you fire it, do this:"]),
        Placed(78, 678, "1."),
        *column(
            94, 678, ["Sweep the floor of the kiln and look whether any of the shelves has cracked", "over the winter."]
        ),
        Placed(78, 648, "2."),
        *column(94, 648, ["Open the damper."]),
        *column(72, 620, PROSE),
    ]
    parsed = read(page)
    items = [text for kind, text in blocks(parsed) if kind == "list_item"]
    assert items == [
        "1. Sweep the floor of the kiln and look whether any of the shelves has cracked over the winter.",
        "2. Open the damper.",
    ]
    assert above(parsed, "Open the damper")[0].endswith("do this:")
    assert above(parsed, PROSE[0][:40]) == []


def test_what_is_indented_below_an_item_hangs_on_it() -> None:
    page = [Placed(72, 720, "•"), Placed(84, 720, "Shelves"), *column(84, 700, PROSE), *column(72, 640, PROSE)]
    parsed = read(page)
    assert blocks(parsed)[0] == ("list_item", "• Shelves")
    assert above(parsed, PROSE[0][:40]) == ["• Shelves"]
    assert parsed.blocks[-1].hangs_on == ()


def test_a_term_above_its_indented_meaning() -> None:
    page = [
        Placed(72, 720, "--soak", "code"),
        Placed(72, 708, "--soak=MINUTES", "code"),
        *column(110, 696, ["Keep the kiln at its highest heat for so many minutes.", "The default is 20."]),
        Placed(72, 672, "--cone", "code"),
        *column(110, 660, ["Stop when this cone bends."]),
    ]
    parsed = read([*column(72, 770, PROSE), *page])
    assert above(parsed, "The default is 20.") == ["--soak", "--soak=MINUTES"]
    assert above(parsed, "Stop when this cone") == ["--cone"]


def test_a_term_beside_its_meaning() -> None:
    page = [
        Placed(72, 700, "damper", "bold"),
        *column(140, 700, ["A plate that closes the flue. It is left open until the kiln", "has reached red heat."]),
        Placed(72, 670, "cone", "bold"),
        *column(140, 670, ["A small pyramid of clay and glaze, which bends at a known heat", "and so tells it."]),
    ]
    parsed = read([*column(72, 770, PROSE), *page])
    assert above(parsed, "red heat") == ["damper"]
    assert above(parsed, "small pyramid") == ["cone"]


def test_code_keeps_its_lines_and_hangs_on_its_introduction() -> None:
    page = [
        *column(72, 720, [*PROSE[:2], "To see how hot it is, run"]),
        *column(90, 678, ["while true; do", "    kiln --heat", "done"], font="code"),
        *column(72, 630, PROSE),
    ]
    parsed = read(page)
    assert ("code", "while true; do\n    kiln --heat\ndone") in blocks(parsed)
    assert above(parsed, "kiln --heat")[0].endswith("run")


def test_table_rows_hang_on_caption_and_header() -> None:
    rows = [
        ("Cone", "Heat", "Use"),
        ("04", "1060", "earthenware"),
        ("6", "1222", "stoneware that is"),
        ("10", "1305", "porcelain"),
    ]
    table = [
        Placed(x, 700 - 14 * number - 12 * (number > 2), cell)
        for number, row in enumerate(rows)
        for x, cell in zip((100, 200, 300), row, strict=True)
    ]
    page = [
        *column(72, 780, PROSE),
        Placed(150, 720, "Table 2: Cones and their heat"),
        *table,
        Placed(300, 660, "glazed"),
    ]
    page.sort(key=lambda words: (-words.y, words.x))
    parsed = read([*page, *column(72, 600, PROSE)])
    assert [text for kind, text in blocks(parsed) if kind == "table_row"] == [
        "Cone | Heat | Use",
        "04 | 1060 | earthenware",
        "6 | 1222 | stoneware that is glazed",
        "10 | 1305 | porcelain",
    ]
    assert above(parsed, "1305") == ["Table 2: Cones and their heat", "Cone | Heat | Use"]


def test_lines_of_a_contents_page_are_not_text() -> None:
    entries = [f"{number} Chapter about clay" + " ." * 40 + f" {number * 7}" for number in range(1, 9)]
    parsed = read([Placed(72, 780, "Contents", "bold", 16), *column(72, 740, entries)], column(72, 700, PROSE))
    assert blocks(parsed)[1] == ("contents", "1 Chapter about clay ... 7")
    assert [kind for kind, _ in blocks(parsed)] == ["heading", *["contents"] * 8, "paragraph"]


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [f"The left column says its line {number:02d} of it" for number in range(16)]
    right = [f"The right column says its line {number:02d} too" for number in range(16)]
    across = [words for pair in zip(column(72, 700, left), column(320, 700, right), strict=True) for words in pair]
    text = " ".join(read(across).text.split())
    assert text.index("left column says its line 15") < text.index("right column says its line 00")


def test_a_footnote_is_its_own_block() -> None:
    page = [*column(72, 700, PROSE), Placed(72, 80, "1 In winter it takes a day more.", size=8)]
    assert blocks(read(page))[-1] == ("footnote", "1 In winter it takes a day more.")


def test_a_paragraph_that_goes_on_hangs_on_its_beginning() -> None:
    parsed = read(column(72, 100, PROSE[:2]), column(72, 780, ["with it every pot that stands there."]))
    assert above(parsed, "every pot") == [" ".join(PROSE[:2])]


def test_pages_without_text_are_counted() -> None:
    parsed = read(column(72, 700, PROSE), [], [])
    (said,) = parsed.left_out
    assert "2 of 3 pages" in said
    assert read(column(72, 700, PROSE)).left_out == ()


def test_text_that_nobody_sees_is_left_out() -> None:
    page = [
        *column(72, 700, PROSE),
        Placed(72, 600, "white", drawing="1 g"),
        Placed(72, 580, "tiny", size=0.5, drawing="0 g"),
        Placed(72, 560, "undrawn", drawing="3 Tr"),
        Placed(900, 540, "outside", drawing="0 Tr"),
    ]
    parsed = read(page)
    assert blocks(parsed) == [("paragraph", " ".join(PROSE))]
    (said,) = parsed.left_out
    assert said.startswith("4 words ")


def test_white_text_on_a_dark_ground_is_read() -> None:
    parsed = read([Placed(72, 600, "Danger", drawing="0 g 60 590 200 30 re f 1 g")])
    assert parsed.text == "Danger"
    assert parsed.left_out == ()


def test_a_rotated_page_is_read_as_it_is_shown() -> None:
    drawn = placed_pdf([column(72, 700, PROSE)], rotated=180)
    assert sorted(parse(drawn, name="x.pdf").text.split()) == sorted(" ".join(PROSE).split())


def test_a_large_line_of_a_later_page_or_of_a_section_is_no_title() -> None:
    def page(heading: str) -> list[Placed]:
        return [Placed(72, 780, heading, "bold", 24), *column(72, 700, PROSE)]

    assert read(page("Firing")).title == "Firing"
    assert read(page("1 Introduction")).title is None
    assert read(column(72, 700, PROSE), page("Firing")).title is None


def test_the_title_is_the_files_own_unless_it_is_junk() -> None:
    page = [Placed(72, 780, "Handbook of Kilns", "bold", 24), *column(72, 700, PROSE)]
    assert read(page, title="Kilns, third edition").title == "Kilns, third edition"
    for junk in ("untitled", "kilns-v3.docx", "Microsoft Word - kilns", ""):
        assert read(page, title=junk).title == "Handbook of Kilns"


def test_a_long_file_lets_another_one_in_between() -> None:
    long = placed_pdf([column(72, 700, PROSE)] * 400)
    short = placed_pdf([column(72, 700, PROSE)])
    ended: list[str] = []
    started = threading.Event()

    def read_long() -> None:
        started.set()
        parse(long, name="x.pdf")
        ended.append("long")

    def read_short() -> None:
        started.wait(10)
        parse(short, name="x.pdf")
        ended.append("short")

    threads = [threading.Thread(target=read_long), threading.Thread(target=read_short)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert ended == ["short", "long"]


@given(
    st.lists(
        st.lists(
            st.builds(
                Placed,
                st.floats(0, 590),
                st.floats(0, 840),
                st.text(st.sampled_from("abABCDEF 12.,:-|•()$%"), min_size=1, max_size=40),
                st.sampled_from(["text", "bold", "code", "mapped"]),
                st.sampled_from([1, 8, 10, 12, 20]),
            ),
            max_size=30,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_placing_gives_ordered_blocks(pages: list[list[Placed]]) -> None:
    kept = [Placed(72, 400, "anchor"), *pages[0]]
    parsed = read(kept, *pages[1:])
    assert "fault" not in "".join((*parsed.warnings, *parsed.left_out))
    end = 0
    for index, block in enumerate(parsed.blocks):
        assert end <= block.start < block.end
        assert not parsed.text[end : block.start].strip()
        assert all(other < index for other in block.hangs_on)
        end = block.end
    assert not parsed.text[end:].strip()
    assert "anchor" in parsed.text
