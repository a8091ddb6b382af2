"""AsciiDoc, Org, LaTeX, calendars and contacts: what people write in them, without a sign of markup in the text."""

import pytest

from graph.errors import UnreadableDocument
from tests.contract.hanging_blocks import hanging
from tools.parsers import parse


@pytest.mark.parametrize(
    ("name", "markup", "text"),
    [
        (
            "x.tex",
            r"fired at 4.2\,cm~\cite{old}, na\"{\i}ve \'Ecole, 5\,\%, a---b ``c''",
            "fired at 4.2 cm [old], naïve École, 5 %, a—b “c”",
        ),
        ("x.tex", r"\SI{4.2}{\kilo\metre} of \textbf{bold \emph{text}} % hidden", "4.2 kilo metre of bold text"),
        (
            "x.tex",
            r"\verb|a_b| \url{http://a.b/c_d} \href{http://x}{page} \textcolor{red}{hot}",
            "a_b http://a.b/c_d page hot",
        ),
        ("x.tex", r"take $2\frac{3}{4}$ or \(10^{-4}\) or \[ \sqrt{16} \]", "take 2 3/4 or 10^-4 or sqrt(16)"),
        ("x.tex", r"\unknown[opt]{words} stay \Large big", "words stay big"),
        (
            "x.org",
            "*bold* /it/ =a_b= [[https://a.b][page]] CO_2 10^6 \\(\\frac{1}{2}\\) a * b",
            "bold it a_b page CO2 10^6 1/2 a * b",
        ),
        (
            "x.tex",
            r"\begin{tabular}{ll} A & B \\ c & \begin{tabular}{l} d \\ e \end{tabular} \\ f & g \end{tabular}",
            "A | B\nc | d e\nf | g",
        ),
        ("x.tex", r"\begin{tabular}{l}\begin{itemize}\item a \item b\end{itemize}\end{tabular} c", "a b\n\nc"),
        ("x.tex", r"\begin{tabular}{ll} a & b \\ c & d", "a | b\nc | d"),
        ("x.tex", r"words \tabularnewline more \end{tabular} rest", "words\nmore\nrest"),
        ("x.org", "- [X] done\n- open", "- done\n- open"),
        (
            "x.adoc",
            ":t: 900\n\nfired at {t} *much* _gas_ `a_b` kbd:[Ctrl+C] 10^6^ CO~2~ <<a,b>> stem:[1/2] {no}",
            "fired at 900 much gas a_b Ctrl+C 10^6 CO2 b 1/2 {no}",
        ),
        ("x.adoc", "|===\n.2+|r |s |t\n|u .3+|v\n2.2+|w\n|===", "r | s | t\nr | u | v\nw | w | v\nw | w | v"),
        ("x.adoc", ". a\n.. b\n. c\n\n== Next\n\n. d", "1. a\n  1. b\n2. c\n\nNext\n\n1. d"),
        ("x.adoc", "image::lamp.png[A lamp]\n\ninclude::a.adoc[]", "A lamp"),
    ],
)
def test_marks_within_a_line(name: str, markup: str, text: str) -> None:
    assert parse(markup.encode(), name=name).text == text


def test_cells_that_span_columns_say_the_same_in_each() -> None:
    for name, markup in {
        "x.adoc": "|===\n|Room |Hours\n\n2+|Hall\n|===",
        "x.tex": "\\begin{tabular}{ll}\\hline Room & Hours \\\\ \\hline "
        "\\multicolumn{2}{c}{Hall} \\\\ \\hline\\end{tabular}",
    }.items():
        assert hanging(parse(markup.encode(), name=name)) == [
            ("table_row", "Room | Hours", []),
            ("table_row", "Hall | Hall", ["Room | Hours"]),
        ]


@pytest.mark.parametrize(
    ("name", "markup"),
    [("x.adoc", "[NOTE]\n====\nHot.\n\nStay away.\n===="), ("x.adoc", "NOTE: Hot.\n\n[NOTE]\nStay away.")],
)
def test_an_admonition_is_a_label(name: str, markup: str) -> None:
    found = hanging(parse(markup.encode(), name=name))
    assert [(words, on) for kind, words, on in found if kind == "paragraph"] == [
        ("Hot.", ["Note"]),
        ("Stay away.", ["Note"]),
    ]


def test_what_is_never_closed_loses_nothing() -> None:
    assert parse(b"|===\nlast\n|===", name="x.adoc").text == "last"
    for name, markup in {"x.adoc": "----\nlast", "x.org": ":A:\nlast", "x.tex": "\\begin{verbatim}\nlast"}.items():
        assert "last" in parse(markup.encode(), name=name).text


def test_the_last_day_of_an_event_is_that_on_which_it_ends() -> None:
    event = (
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Fair\nDTSTART;VALUE=DATE:20310701\nDTEND;VALUE=DATE:{}\nEND:VEVENT\n"
    )
    assert parse(event.format("20310702").encode(), name="x.ics").text == "Fair\n\nStart: 2031-07-01"
    assert parse(event.format("20310704").encode(), name="x.ics").text.endswith("\nEnd: 2031-07-03")


@pytest.mark.parametrize("name", ["x.ics", "x.vcf"])
def test_what_is_no_calendar_is_told(name: str) -> None:
    with pytest.raises(UnreadableDocument, match="no calendar"):
        parse(b"A text.", name=name)
