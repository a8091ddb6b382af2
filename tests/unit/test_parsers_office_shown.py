"""What office files show beside plain words: formulas, raised marks, running heads, charts, the order of shapes."""

import io
import zipfile

import pytest

from tests.contract.parser_kit import check_parsed
from tools.parsers import Parsed, parse
from tools.parsers.shape_order import Place, as_seen

_NAMES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    **{
        name: f"urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"
        for name, long in {
            "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
            "chart": "chart", "svg": "svg-compatible", "presentation": "presentation",
        }.items()
    },
    "xlink": "http://www.w3.org/1999/xlink",
    "math": "http://www.w3.org/1998/Math/MathML",
}  # fmt: skip
_DECLARED = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in _NAMES.items())
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def element(tag: str, inside: str, **attributes: str) -> str:
    said = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag} {_DECLARED}{said}>{inside}</{tag}>"


def packed(parts: dict[str, str], related: dict[str, list[tuple[str, str, str]]] | None = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
        for name, links in (related or {}).items():
            rows = "".join(
                f'<Relationship Id="{key}" Type="{_NAMES["r"]}/{kind}" Target="{target}"/>'
                for key, kind, target in links
            )
            archive.writestr(name, f'<Relationships xmlns="{_PACKAGE}">{rows}</Relationships>')
    return out.getvalue()


def read_word(body: str, parts: dict[str, str] | None = None, links: tuple[tuple[str, str, str], ...] = ()) -> Parsed:
    related = {
        "_rels/.rels": [("m", "officeDocument", "word/document.xml")],
        "word/_rels/document.xml.rels": list(links),
    }
    document = element("w:document", f"<w:body>{body}</w:body>")
    return checked(packed({"word/document.xml": document, **(parts or {})}, related), "x.docx")


def read_slide(
    shapes: str, parts: dict[str, str] | None = None, links: tuple[tuple[str, str, str], ...] = ()
) -> Parsed:
    listed = '<p:sldIdLst><p:sldId id="256" r:id="s1"/></p:sldIdLst>'
    slide = element("p:sld", f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>")
    related = {
        "_rels/.rels": [("m", "officeDocument", "ppt/presentation.xml")],
        "ppt/_rels/presentation.xml.rels": [("s1", "slide", "slides/slide1.xml")],
        "ppt/slides/_rels/slide1.xml.rels": list(links),
    }
    main = element("p:presentation", listed)
    return checked(
        packed({"ppt/presentation.xml": main, "ppt/slides/slide1.xml": slide, **(parts or {})}, related), "x.pptx"
    )


def read_open(kind: str, body: str, styles: str = "", parts: dict[str, str] | None = None, common: str = "") -> Parsed:
    content = element(
        "office:document-content",
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body>",
    )
    suffix = {"text": "odt", "presentation": "odp"}[kind]
    head = {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content}
    return checked(
        packed({**head, "styles.xml": element("office:document-styles", common), **(parts or {})}), f"x.{suffix}"
    )


def checked(data: bytes, name: str) -> Parsed:
    parsed = parse(data, name=name)
    check_parsed(parsed)
    return parsed


def word_run(words: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>'


def word_paragraph(*runs: str) -> str:
    return f"<w:p>{''.join(runs)}</w:p>"


UP, DOWN = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'
FRACTION = "<m:f><m:num>{}</m:num><m:den>{}</m:den></m:f>"


def math_run(words: str) -> str:
    return f"<m:r><m:t>{words}</m:t></m:r>"


def with_brackets(inside: str, properties: str = "") -> str:
    return f"<m:d><m:dPr>{properties}</m:dPr><m:e>{inside}</m:e></m:d>"


FORMULAS = [
    (FRACTION.format(math_run("1"), math_run("2")), "1/2"),
    (math_run("2") + FRACTION.format(math_run("3"), math_run("4")), "2 3/4"),
    (FRACTION.format(math_run("a+b"), math_run("c")), "(a+b)/c"),
    (f"<m:sSup><m:e>{math_run('10')}</m:e><m:sup>{math_run('−')}{math_run('4')}</m:sup></m:sSup>", "10^-4"),
    (f"<m:sSub><m:e>{math_run('x')}</m:e><m:sub>{math_run('12')}</m:sub></m:sSub>", "x_12"),
    (f'<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>{math_run("16")}</m:e></m:rad>', "sqrt(16)"),
    (f"<m:rad><m:deg>{math_run('3')}</m:deg><m:e>{math_run('8')}</m:e></m:rad>", "root(3)(8)"),
    (
        f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{math_run("i=1")}</m:sub><m:sup>{math_run("9")}</m:sup>'
        f"<m:e>{math_run('i')}</m:e></m:nary>",
        "∑_(i=1)^9 i",
    ),
    (with_brackets(math_run("5"), '<m:begChr m:val="["/><m:endChr m:val="["/>'), "[5["),
    (f"<m:func><m:fName>{math_run('sin')}</m:fName><m:e>{math_run('x')}</m:e></m:func>", "sin x"),
    (
        f"<m:m><m:mr><m:e>{math_run('1')}</m:e><m:e>{math_run('0')}</m:e></m:mr>"
        f"<m:mr><m:e>{math_run('0')}</m:e><m:e>{math_run('7')}</m:e></m:mr></m:m>",
        "1, 0; 0, 7",
    ),
    ("<m:r><m:rPr><m:nor/></m:rPr><m:t>speed limit</m:t></m:r>", "speed limit"),
    (f"<m:acc><m:e>{math_run('x')}</m:e></m:acc>", "x\u0302"),
]


@pytest.mark.parametrize(("omml", "line"), FORMULAS)
def test_a_formula_of_word_keeps_its_value_and_its_source(omml: str, line: str) -> None:
    parsed = read_word(word_paragraph(word_run("It is "), f"<m:oMath>{omml}</m:oMath>", word_run(" here.")))
    assert parsed.text == f"It is {line} here."
    (formula,) = parsed.formulas
    assert parsed.text[formula.start : formula.end] == line
    assert formula.source.startswith('<math xmlns="http://www.w3.org/1998/Math/MathML">')


def test_figures_beside_a_formula_stay_apart() -> None:
    half = f"<m:oMath>{FRACTION.format(math_run('3'), math_run('4'))}</m:oMath>"
    assert read_word(word_paragraph(word_run("2"), half, word_run("8"))).text == "2 3/4 8"


def test_a_formula_on_a_slide_and_in_a_cell() -> None:
    power = f"<m:oMath><m:sSup><m:e>{math_run('2')}</m:e><m:sup>{math_run('10')}</m:sup></m:sSup></m:oMath>"
    cell = f"<a:tc><a:txBody><a:p>{power}</a:p></a:txBody></a:tc>"
    table = f"<p:graphicFrame><a:graphic><a:tbl><a:tr>{cell}{cell}</a:tr></a:tbl></a:graphic></p:graphicFrame>"
    parsed = read_slide(shape(f"<a:p>{power}</a:p>") + table)
    assert parsed.text == "2^10\n\n2^10 | 2^10"
    assert len(parsed.formulas) == 3


def test_a_formula_that_nests_too_deeply_is_its_words() -> None:
    deep = "<m:e>" * 150 + math_run("7") + "</m:e>" * 150
    assert read_word(word_paragraph(f"<m:oMath>{deep}</m:oMath>")).text == "7"


OPEN_FORMULA = (
    '<draw:frame><draw:object xlink:href="./Object 1/"/><draw:image xlink:href="./Old/Object 1"/></draw:frame>'
)
OPEN_HALF = element("math:math", "<math:mfrac><math:mn>1</math:mn><math:mn>2</math:mn></math:mfrac>")


def test_a_formula_of_open_document() -> None:
    parsed = read_open(
        "text", f"<text:p>Take {OPEN_FORMULA} a cup.</text:p>", parts={"Object 1/content.xml": OPEN_HALF}
    )
    assert (parsed.text, parsed.left_out) == ("Take 1/2 a cup.", ())
    assert parsed.text[parsed.formulas[0].start : parsed.formulas[0].end] == "1/2"


@pytest.mark.parametrize(
    ("declared", "text", "left_out"),
    [
        ('<!DOCTYPE math:math PUBLIC "-//OpenOffice.org//DTD Modified W3C MathML 1.01//EN" "math.dtd">', "1/2", ()),
        ('<!DOCTYPE x [<!ENTITY a "b">]>', "", ("1 picture was left out.",)),
    ],
)
def test_a_formula_of_an_old_program_is_read_and_a_hostile_one_counted(
    declared: str, text: str, left_out: tuple[str, ...]
) -> None:
    parts = {"Object 1/content.xml": declared + OPEN_HALF}
    parsed = read_open("text", f"<text:p>Take {OPEN_FORMULA} a cup.</text:p>", parts=parts)
    assert (parsed.text.split(), parsed.left_out) == (["Take", *text.split(), "a", "cup."], left_out)


def test_a_formula_of_rtf() -> None:
    half = "{\\mmath{\\*\\moMath{\\mf{\\mfPr{\\mtype bar}}{\\mnum{\\mr 1}}{\\mden{\\mr 2}}}}{\\mmathPict{\\pict ff}}}"
    parsed = parse(("{\\rtf1 Take " + half + " a cup.}").encode(), name="x.rtf")
    assert (parsed.text, parsed.left_out, len(parsed.formulas)) == ("Take 1/2 a cup.", (), 1)


RAISED = [
    ([("10", 0), ("6", 1), (" cells", 0)], "10^6 cells"),
    ([("10", 0), ("-", 1), ("3", 1)], "10^-3"),  # cut into two runs
    ([("CO", 0), ("2", -1), (" and m", 0), ("3", 1)], "CO2 and m^3"),
    ([("as he says", 0), ("2", 1), (".", 0)], "as he says [2]."),
    ([("1998", 0), ("1)", 1), (" and", 0)], "1998 1) and"),
    ([("10", 0), ("2", -1)], "10_2"),
    ([("the 1", 0), ("st", 1), (" of May", 0)], "the 1st of May"),
    ([("1", 0), ("1", 1), ("/", 0), ("2", -1), (" cups", 0)], "1 1/2 cups"),
]


@pytest.mark.parametrize(("runs", "line"), RAISED)
def test_raised_and_lowered_letters_in_every_format(runs: list[tuple[str, int]], line: str) -> None:
    word = "".join(word_run(words, {1: UP, -1: DOWN, 0: ""}[shift]) for words, shift in runs)
    assert read_word(word_paragraph(word)).text == line
    slide = "".join(f'<a:r><a:rPr baseline="{shift * 30000}"/><a:t>{words}</a:t></a:r>' for words, shift in runs)
    assert read_slide(shape(f"<a:p>{slide}</a:p>")).text == line
    styles = "".join(
        f'<style:style style:name="T{at}" style:family="text"><style:text-properties style:text-position="{how}"/>'
        "</style:style>"
        for at, how in enumerate(("0% 100%", "super 58%", "sub 58%"))
    )
    spans = "".join(f'<text:span text:style-name="T{shift}">{words}</text:span>' for words, shift in runs)
    assert read_open("text", f"<text:p>{spans}</text:p>".replace("T-1", "T2"), styles).text == line
    rich = "".join("{" + {1: "\\super ", -1: "\\sub ", 0: ""}[shift] + words + "}" for words, shift in runs)
    assert parse(f"{{\\rtf1 {rich}}}".encode(), name="x.rtf").text == line


def test_a_mark_that_the_document_explains_is_no_power() -> None:
    text = word_paragraph(word_run("It cost 1200"), word_run("3", UP), word_run(" in 10"), word_run("6", UP))
    note = word_paragraph(word_run("3", UP), word_run(" Without heating."))
    assert read_word(text + note).text == "It cost 1200 [3] in 10^6\n\n[3] Without heating."


def test_a_number_before_a_note_and_one_behind_it_stay_apart() -> None:
    note = '<w:footnotes {}><w:footnote w:id="2"><w:p><w:r><w:t>By post.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    text = word_paragraph(word_run("In 1998"), '<w:r><w:footnoteReference w:id="2"/></w:r>', word_run("7 came."))
    parsed = read_word(text, {"word/footnotes.xml": note.format(_DECLARED)}, (("f", "footnotes", "footnotes.xml"),))
    assert parsed.text == "In 1998 7 came.\n[1] By post."


def test_a_sign_is_told_by_its_font() -> None:
    signs = {("Symbol", "F0B3"): "≥", ("Symbol", "F0B1"): "±", ("Wingdings", "F0FE"): "☑", ("Arial", "2030"): "‰"}
    signs |= {("Symbol", "F06D"): "μ", ("Webdings", "F0AA"): ""}
    runs = (f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>' for font, code in signs)
    parsed = read_word(word_paragraph(word_run("5 "), *runs))
    assert parsed.text == "5 " + "".join(signs.values())
    assert [told.startswith("1 sign") for told in parsed.left_out] == [True]


def field(code: str, shown: str) -> str:
    ends = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    return ends.format("begin") + f"<w:r><w:instrText>{code}</w:instrText></w:r>" + ends.format("separate") + (
        word_run(shown) + ends.format("end")
    )  # fmt: skip


def test_running_heads_of_word_stand_once_without_page_numbers() -> None:
    tab = "<w:r><w:tab/></w:r>"
    head = word_paragraph(word_run("Contract 88-112"), tab, word_run("Page "), field(" PAGE ", "3"), word_run(" of "),
                          '<w:fldSimple w:instr="NUMPAGES"><w:r><w:t>9</w:t></w:r></w:fldSimple>')  # fmt: skip
    foot = word_paragraph(word_run("Line 17, "), field("PAGE \\* MERGEFORMAT", "3"))
    parts = {
        "word/h1.xml": element("w:hdr", head),
        "word/h2.xml": element("w:hdr", head + word_paragraph(word_run("Draft"))),
        "word/h3.xml": element("w:hdr", word_paragraph(word_run("No page begins so"))),
        "word/f1.xml": element("w:ftr", foot),
    }
    references = '<w:headerReference w:type="default" r:id="h1"/><w:footerReference w:type="default" r:id="f1"/>'
    sections = (
        f"<w:p><w:pPr><w:sectPr>{references}</w:sectPr></w:pPr><w:r><w:t>Body.</w:t></w:r></w:p>"
        '<w:sectPr><w:headerReference w:type="default" r:id="h2"/><w:headerReference w:type="first" r:id="h3"/>'
        "</w:sectPr>"
    )
    links = (
        ("h1", "header", "h1.xml"),
        ("h2", "header", "h2.xml"),
        ("h3", "header", "h3.xml"),
        ("f1", "footer", "f1.xml"),
    )
    assert read_word(sections, parts, links).text == "Contract 88-112\n\nDraft\n\nBody.\n\nLine 17,"


def test_running_heads_of_open_document() -> None:
    pages = "".join(
        f'<style:master-page style:name="{name}"><style:header><text:p>{words}<text:tab/>Page <text:page-number>1'
        "</text:page-number></text:p></style:header></style:master-page>"
        for name, words in (("Standard", "Contract 88-112"), ("Unused", "Elsewhere"))
    )
    common = f"<office:master-styles>{pages}</office:master-styles>"
    assert read_open("text", "<text:p>Body.</text:p>", common=common).text == "Contract 88-112\n\nBody."


def test_running_heads_of_rtf() -> None:
    head = (
        "{\\header Contract 88-112\\tab Page {\\field{\\*\\fldinst PAGE}{\\fldrslt 3}}\\par}{\\footer Hotline 17\\par}"
    )
    first = "{\\headerf Never shown\\par}"
    parsed = parse(("{\\rtf1 " + head + first + "Body.\\par " + head + "More.}").encode(), name="x.rtf")
    assert parsed.text == "Contract 88-112\n\nBody.\n\nMore.\n\nHotline 17"


def cache(kind: str, points: list[str], code: str = "") -> str:
    said = "".join(f'<c:pt idx="{at}"><c:v>{words}</c:v></c:pt>' for at, words in enumerate(points) if words)
    return f"<c:{kind}>{f'<c:formatCode>{code}</c:formatCode>' if code else ''}{said}</c:{kind}>"


def series(name: str, categories: list[str], values: list[str], code: str = "General") -> str:
    return (
        f"<c:ser><c:tx><c:strRef>{cache('strCache', [name])}</c:strRef></c:tx>"
        f"<c:cat><c:strRef>{cache('strCache', categories)}</c:strRef></c:cat>"
        f"<c:val><c:numRef>{cache('numCache', values, code)}</c:numRef></c:val></c:ser>"
    )


def chart(*drawn: str, title: str = "") -> str:
    words = "<c:title><c:tx><c:rich><a:p><a:r><a:t>{}</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    head = words.format(title) if title else ""
    axes = f"<c:catAx>{words.format('Year')}</c:catAx><c:valAx>{words.format('Guests')}</c:valAx>"
    plot = f"<c:plotArea><c:barChart>{''.join(drawn)}</c:barChart>{axes}</c:plotArea>"
    return element("c:chartSpace", f"<c:chart>{head}{plot}</c:chart>")


CHART_ON_SLIDE = (
    '<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c1"/></a:graphicData></a:graphic></p:graphicFrame>'
)
FIGURES = (
    series("Boats", ["2029", "2030"], ["41000", "47500"]) + series("Share", ["2029", "2030"], ["0.25", ""], "0%")
)  # fmt: skip
FIGURES_SAID = "Visitors, Guests\nYear | Boats | Share\n2029 | 41000 | 25%\n2030 | 47500 |"


def test_charts_say_their_title_series_and_figures() -> None:
    drawing = chart(FIGURES, title="Visitors")
    links = (("c1", "chart", "../charts/chart1.xml"),)
    slide = read_slide(CHART_ON_SLIDE * 2, {"ppt/charts/chart1.xml": drawing}, links)
    assert slide.text == FIGURES_SAID
    inline = '<w:p><w:r><w:drawing><c:chart r:id="c1"/></w:drawing></w:r></w:p>'
    word = read_word(inline, {"word/charts/chart1.xml": drawing}, (("c1", "chart", "charts/chart1.xml"),))
    assert (word.text, word.left_out) == (FIGURES_SAID, ())


FIGURES_OF_BOATS = [("", "Boats"), ("2029", "41"), ("2030", "NaN")]


def test_a_chart_of_open_document() -> None:
    cells = "<table:table-cell><text:p>{}</text:p></table:table-cell>" * 2
    head, *rows = (f"<table:table-row>{cells.format(*row)}</table:table-row>" for row in FIGURES_OF_BOATS)
    table = f"<table:table><table:table-header-rows>{head}</table:table-header-rows>{''.join(rows)}</table:table>"
    title = "<chart:title><text:p>Visitors</text:p></chart:title>"
    drawn = f"<office:body><office:chart><chart:chart>{title}{table}</chart:chart></office:chart></office:body>"
    parts = {"Object 1/content.xml": element("office:document-content", drawn)}
    parsed = read_open("text", f"<text:p>See:{OPEN_FORMULA}</text:p>", parts=parts)
    assert parsed.text == "See:\n\nVisitors\n| Boats\n2029 | 41\n2030 |"


def test_a_diagram_says_its_words_in_order() -> None:
    point = '<dgm:pt modelId="{}" type="{}"><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>'
    points = "".join(
        point.format(*each)
        for each in (
            (0, "doc", ""),
            (1, "node", "Light"),
            (2, "node", "Fill"),
            (3, "node", "Oil"),
            (4, "sibTrans", "x"),
        )
    )
    links = "".join(
        f'<dgm:cxn modelId="{9 + at}" srcId="{above}" destId="{below}" srcOrd="{order}"/>'
        for at, (above, below, order) in enumerate(((0, 1, 1), (0, 2, 0), (2, 3, 0)))
    )
    data = element("dgm:dataModel", f"<dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{links}</dgm:cxnLst>")
    frame = (
        '<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="d1"/></a:graphicData></a:graphic></p:graphicFrame>'
    )
    parsed = read_slide(frame, {"ppt/diagrams/data1.xml": data}, (("d1", "diagramData", "../diagrams/data1.xml"),))
    assert parsed.text == "- Fill\n  - Oil\n- Light"


def test_pictures_are_counted() -> None:
    picture = "<pic:pic/>"
    word = read_word(word_paragraph(word_run("See."), f"<w:r><w:drawing>{picture}</w:drawing></w:r>") * 2)
    assert word.left_out == ("2 pictures were left out.",)
    assert read_slide(shape("<a:p><a:r><a:t>See.</a:t></a:r></a:p>") + "<p:pic/>").left_out == (
        "1 picture was left out.",
    )
    frame = '<draw:frame><draw:image xlink:href="Pictures/1.png"/></draw:frame>'
    assert read_open("text", f"<text:p>See.{frame}</text:p>").left_out == ("1 picture was left out.",)


def shape(paragraphs: str, place: tuple[int, int, int, int] | None = None, kind: str = "") -> str:
    drawn = (
        '<a:xfrm><a:off x="{}" y="{}"/><a:ext cx="{}" cy="{}"/></a:xfrm>'.format(*place) if place is not None else ""
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name=""/><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:spPr>{drawn}</p:spPr>'
        f"<p:txBody>{paragraphs}</p:txBody></p:sp>"
    )


def said(words: str) -> str:
    return f"<a:p><a:r><a:t>{words}</a:t></a:r></a:p>"


def test_shapes_are_read_as_they_are_seen() -> None:
    title = shape(said("Steps"), (0, 900, 100, 50), '<p:ph type="title"/>')
    shapes = [
        shape(said(words), (x, y, 100, 40))
        for words, x, y in (("4", 200, 60), ("2", 200, 0), ("3", 0, 62), ("1", 0, 3))
    ]
    place = '<a:xfrm><a:off x="0" y="200"/><a:ext cx="9" cy="9"/></a:xfrm>'
    group = f"<p:grpSp><p:grpSpPr>{place}</p:grpSpPr>{shapes[3]}</p:grpSp>"
    foot = shape(said("Secret"), (0, 400, 9, 9), '<p:ph type="ftr"/>')
    parsed = read_slide(foot + group + "".join(shapes) + title)
    assert parsed.text.split("\n\n") == ["Steps", "1", "2", "3", "4", "1", "Secret"]


def test_a_placeholder_stands_where_its_layout_puts_it() -> None:
    body = shape("", (0, 500, 100, 100), '<p:ph type="body" idx="1"/>')
    layout = element("p:sldLayout", f"<p:cSld><p:spTree>{body}</p:spTree></p:cSld>")
    shapes = shape(said("below"), None, '<p:ph idx="1"/>') + shape(said("above"), (0, 100, 100, 100))
    links = (("l", "slideLayout", "../slideLayouts/l.xml"),)
    assert read_slide(shapes, {"ppt/slideLayouts/l.xml": layout}, links).text.split() == ["above", "-", "below"]


def test_shapes_of_an_open_presentation_are_read_as_they_are_seen() -> None:
    box = "<draw:text-box><text:p>{}</text:p></draw:text-box>"
    frame = f'<draw:frame svg:x="{{}}cm" svg:y="{{}}mm" svg:width="5cm" svg:height="2cm">{box}</draw:frame>'
    shapes = (
        frame.format(9, 10, "right") + f"<draw:g>{frame.format(1, 40, 'below')}</draw:g>" + frame.format(1, 11, "left")
    )
    assert read_open("presentation", f"<draw:page>{shapes}</draw:page>").text.split() == ["left", "right", "below"]


@pytest.mark.parametrize(
    ("places", "order"),
    [
        (
            [(0, 0, 9, 9), (0, 10, 9, 9), (10, 0, 9, 9), (10, 10, 9, 9)],
            [0, 1, 2, 3],
        ),  # two columns, as the file has them
        ([(0, 0, 9, 9), (10, 0, 9, 9), (0, 10, 9, 9), (10, 10, 9, 9)], [0, 1, 2, 3]),  # two rows
        ([(10, 10, 9, 9), (0, 0, 9, 9), (10, 0, 9, 9), (0, 10, 9, 9)], [1, 2, 3, 0]),  # neither
        (
            [(0, -9, 20, 8), (0, 0, 9, 9), (0, 10, 9, 9), (10, 0, 9, 9), (10, 10, 9, 9), (0, 20, 20, 2)],
            [0, 1, 2, 3, 4, 5],
        ),
        ([(0, 0, 9, 9), None], [0, 1]),
    ],
)
def test_of_two_readings_the_one_that_the_file_has(
    places: list[tuple[int, int, int, int] | None], order: list[int]
) -> None:
    assert as_seen([Place(*each) if each is not None else None for each in places]) == order


SHAPES = ("custom-shape", "rect", "ellipse", "circle", "line", "polyline", "polygon", "regular-polygon", "path")


@pytest.mark.parametrize("shape", [*SHAPES, "connector", "measure", "caption"])
def test_words_in_a_shape_of_open_document_are_read(shape: str) -> None:
    drawn = f"<draw:{shape}><text:p>Lamp 7</text:p></draw:{shape}>"
    assert "Lamp 7" in read_open("presentation", f"<draw:page><draw:g>{drawn}</draw:g></draw:page>").text
    text = read_open("text", f"<text:p>It is lit by {drawn} at dusk.</text:p>").text
    assert text == "It is lit by at dusk.\n\nLamp 7"
