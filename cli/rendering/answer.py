"""An answer in the terminal: whether it answers, the passages that it quotes, what proves it, or what came nearest."""

from collections.abc import Sequence, Set

from rich.console import Console
from rich.text import Text

from answers.answerhood import SAID, said_of
from answers.citations import excerpt, said_copies, said_date, said_place
from answers.highlighting import in_markdown, in_quote
from answers.marks import Grade, grade_of, marked_citations
from api.dialects.citation_marks import BETWEEN_SECTIONS, bracket, marked_pieces
from api.dialects.section_buffer import final_sections
from cli.console import one_line
from cli.rendering.shown_passages import show_passage
from cli.rendering.wrapping import Flow, show_indented
from graph.evidence import Citation, Message, SectionClaim, Source

Quoted = tuple[int, int, int, str]

INDENT = 6
PASSAGE_INDENT = 8
NEAREST_SHOWN = 150
NOT_GROUNDED = "(from the model's own knowledge, not checked)"
FRESHNESS_STYLE = {"moved": "yellow", "changed": "bold red", "deleted": "bold red", "withheld": "bold red"}
VERDICT_STYLE = {
    "supported": "green", "quoted": "cyan", "checked": "cyan", "unverified": "yellow", "unsupported": "red",
    "contradicted": "bold red",
}  # fmt: skip


def show_answer(console: Console, message: Message, *, wrap: bool) -> None:
    """Show whether an answer answers the question, then its sections, and what proves or comes nearest to it.

    A section that only quotes is shown as the passage that it is, so that no citation repeats it below.
    """
    sources = {source["index"]: source for source in message.get("sources", [])}
    citations = message.get("citations", [])
    if said := answerhood_line(message):
        show_indented(console, said, 2)
        console.print()
    shown: set[Quoted] = set()
    sections = message.get("sections", [])
    for index, (section, final) in enumerate(zip(sections, final_sections(message) if sections else (), strict=True)):
        cited = next((each for each in citations if each["section_index"] == index), None)
        if index:
            console.print()
        if "passage" in section and cited is not None and cited["source_index"] in sources:
            shown.add(quoted(cited))
            _show_quoted(console, cited, sources[cited["source_index"]], section["text"], wrap=wrap)
            continue
        flow = Flow(console, wrap=wrap)
        flow.write("".join(marked_pieces(final, bracket)).removeprefix(BETWEEN_SECTIONS))
        flow.close()
        if not section.get("grounded", True):
            show_indented(console, Text(NOT_GROUNDED, style="dim"), 2)
    show_proof(console, message, shown, wrap=wrap)


def show_proof(console: Console, message: Message, shown: Set[Quoted] = frozenset(), *, wrap: bool) -> None:
    """Show the quotes that marks stand for and no passage has ``shown``, what is not proven, and what comes nearest."""
    claims = message.get("claims", [])
    marked = [(each, grade_of(claim)) for claim in claims for each in marked_citations(claim)]
    rest = [pair for pair in marked if not any(_is_within(pair[0], other) for other in shown)]
    if rest:
        console.print()
        show_citations(console, rest, message.get("sources", []))
    doubted = [claim for claim in claims if claim["verdict"] != "supported"]
    if doubted:
        console.print()
        show_doubts(console, doubted)
    if nearest := message.get("nearest"):
        console.print()
        show_nearest(console, nearest, wrap=wrap)


def _is_within(citation: Citation, shown: Quoted) -> bool:
    source_index, start, end, _ = shown
    return citation["source_index"] == source_index and start <= citation["start"] and citation["end"] <= end


def _show_quoted(console: Console, citation: Citation, source: Source, text: str, *, wrap: bool) -> None:
    span = (f" · characters {citation['start']}–{citation['end']}", "dim")
    place = _place_of_quote(citation, source)
    head = Text.assemble("quoted from ", place, *_copies(citation), span, *_freshness(citation))
    show_indented(console, head, INDENT, first=Text(f"  [{citation['source_index']}] ", style="bold cyan"))
    show_passage(console, text, in_markdown(text, citation), indent=PASSAGE_INDENT, wrap=wrap)


def _copies(citation: Citation) -> list[str]:
    """Return the date of a quote's document and the older ones that hold a copy of it; nothing if none does."""
    date, copies = said_date(citation), one_line(said_copies(citation))
    return [*([f" ({date})"] if date else []), *([f" · {copies}"] if copies else [])]


def _place_of_quote(citation: Citation, source: Source) -> Text:
    heading = " > ".join(citation["heading_path"]) if "heading_path" in citation else source["heading"]
    line = Text(place(source["title"], heading), style="bold")
    if said := said_place(citation):
        line.append(f", {one_line(said)}", style="not bold")
    return line


def show_citations(console: Console, citations: Sequence[tuple[Citation, Grade]], sources: Sequence[Source]) -> None:
    """Show citations grouped by source: number, document, heading and page, then offsets, grade of the claim and quote.

    A quote that bears several claims of the same grade is shown once.
    """
    by_index = {source["index"]: source for source in sources}
    shown: set[int] = set()
    quotes: set[tuple[Quoted, Grade]] = set()
    for citation, grade in sorted(citations, key=lambda each: (each[0]["source_index"], each[0]["start"])):
        index = citation["source_index"]
        if (quoted(citation), grade) in quotes:
            continue
        quotes.add((quoted(citation), grade))
        if index not in shown:
            shown.add(index)
            marker = Text(f"  [{index}] ", style="bold cyan")
            show_indented(console, _place(by_index[index]), INDENT, first=marker)
        show_indented(console, _place_and_grade(citation, grade), INDENT)
        for each in citation.get("context", []):
            show_indented(console, Text(f"{each['role']}: {one_line(each['text'])}", style="dim"), INDENT + 2)
        show_indented(console, Text(f"“{one_line(citation['quote'])}”", style="italic"), INDENT + 2)


def quoted(citation: Citation) -> Quoted:
    """Return what identifies a quote: its source, its offsets and its verdict."""
    return citation["source_index"], citation["start"], citation["end"], citation["verdict"]


def show_doubts(console: Console, claims: Sequence[SectionClaim]) -> None:
    """Show the claims that are not proven, each with what it is called and the reasons."""
    for claim in claims:
        grade = grade_of(claim)
        show_indented(console, Text(grade, style=VERDICT_STYLE[grade]), 2)
        show_indented(console, Text(f"“{one_line(excerpt(claim['text'], NEAREST_SHOWN))}”"), INDENT)
        for reason in claim["reasons"]:
            show_indented(console, Text(one_line(reason), style="dim"), INDENT + 2)


def answerhood_line(message: Message) -> Text:
    """Return what is said of the chance that an answer answers the question, nothing where nobody estimated it."""
    said = said_of(message)
    return Text(f"{said}." if said else "", style="bold")


def show_nearest(console: Console, sources: Sequence[Source], *, wrap: bool) -> None:
    """Show the sources that come nearest to an unanswered question, with the passage of each that does."""
    show_indented(console, f"{SAID['nearest']}:", 2)
    for source in sources:
        selected = [("  selected", "dim")] if source["kind"] == "page" else []
        passage = source.get("passage")
        if passage is None:
            show_indented(console, Text.assemble(_place(source), *selected), INDENT, first=Text("    · ", style="dim"))
            line = Text(one_line(excerpt(source["excerpt"], NEAREST_SHOWN)), style="dim italic")
            show_indented(console, line, INDENT + 2)
            continue
        heading = " > ".join(passage["heading_path"])
        head = Text.assemble("quoted from ", _place(Source(**{**source, "heading": heading})), *selected)
        show_indented(console, head, INDENT, first=Text("    · ", style="dim"))
        # Behind what it hangs on, a line each.
        before = "".join(f"{each['text']}\n" for each in passage["context"] if each["role"] != "heading")
        span = in_quote(passage)
        highlight = span and (span[0] + len(before), span[1] + len(before))
        show_passage(console, before + passage["quote"], highlight, indent=PASSAGE_INDENT, wrap=wrap, is_markdown=False)


def place(title: str, heading: str) -> str:
    """Return a document's title and the headings below it; a title that is also the first heading appears once."""
    below = heading.removeprefix(title).removeprefix(" > ")
    return one_line(f"{title} > {below}" if below else title)


def _place(source: Source) -> Text:
    line = Text(place(source["title"], source["heading"]), style="bold")
    if said := said_place(source):
        line.append(f", {one_line(said)}", style="not bold")
    return line


def _place_and_grade(citation: Citation, grade: Grade) -> Text:
    matched = ", matched by its text" if citation["origin"] == "matched" else ""
    return Text.assemble(
        (f"{citation['cell']} · " if "cell" in citation else "", "dim"),
        (f"characters {citation['start']}–{citation['end']} · ", "dim"),
        (grade, VERDICT_STYLE[grade]),
        (matched, "dim"),
        *_freshness(citation),
    )


def _freshness(citation: Citation) -> list[tuple[str, str]]:
    """Return how the quote's document has changed since; nothing if the quote is still in its place."""
    freshness = citation.get("freshness", "fresh")
    if freshness == "fresh":
        return []
    now = citation.get("now")
    where = f" to {now['start']}–{now['end']}" if now and freshness == "moved" else ""
    page = ""
    if now and where and now["page_idx"] is not None and "sheet" not in citation:
        page = f", {'slide' if 'slide' in citation else 'page'} {now['page_idx'] + 1}"
    return [(", since ", "dim"), (freshness, FRESHNESS_STYLE[freshness]), (where + page, "dim")]
