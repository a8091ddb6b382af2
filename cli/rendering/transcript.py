"""Views of citations with their quotes, search hits, stored conversations, and the verdicts on somebody's text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from answers.citations import excerpt, said_place, said_segment_place
from cli.rendering.wrapping import show_indented
from cli.tables import one_line, printable
from graph.evidence import Citation, Hit, SectionClaim, Source

Quoted = tuple[int, int, int, str]

INDENT = 6
NEAREST_SHOWN = 150
NOT_GROUNDED = "(from the model's own knowledge, not checked)"
FRESHNESS_STYLE = {"moved": "yellow", "changed": "bold red", "deleted": "bold red", "withheld": "bold red"}
ANSWERHOOD = ((0.75, "likely"), (0.5, "perhaps"), (0.0, "doubtful"))
VERDICT_STYLE = {"supported": "green", "unverified": "yellow", "unsupported": "red", "contradicted": "bold red"}


def show_citations(console: Console, citations: list[Citation], sources: list[Source]) -> None:
    """Show citations grouped by source: number, document, heading and page, then offsets, verdict and quote.

    A quote that proves several claims with the same verdict is shown once.
    """
    by_index = {source["index"]: source for source in sources}
    shown: set[int] = set()
    quotes: set[Quoted] = set()
    for citation in sorted(citations, key=lambda c: (c["source_index"], c["start"])):
        index = citation["source_index"]
        if quoted(citation) in quotes:
            continue
        quotes.add(quoted(citation))
        if index not in shown:
            shown.add(index)
            marker = Text(f"  [{index}] ", style="bold cyan")
            show_indented(console, _place(by_index[index]), INDENT, first=marker)
        show_indented(console, _verdict(citation), INDENT)
        for each in citation.get("context", []):
            show_indented(console, Text(f"{each['role']}: {one_line(each['text'])}", style="dim"), INDENT + 2)
        show_indented(console, Text(f"“{one_line(citation['quote'])}”", style="italic"), INDENT + 2)


def quoted(citation: Citation) -> Quoted:
    """Return what identifies a quote: its source, its offsets and its verdict."""
    return citation["source_index"], citation["start"], citation["end"], citation["verdict"]


def show_doubts(console: Console, claims: list[SectionClaim]) -> None:
    """Show the claims that are not proven, each with its verdict and the reasons."""
    for claim in claims:
        show_indented(console, Text(claim["verdict"], style=VERDICT_STYLE[claim["verdict"]]), 2)
        show_indented(console, Text(f"“{one_line(excerpt(claim['text'], NEAREST_SHOWN))}”"), INDENT)
        for reason in claim["reasons"]:
            show_indented(console, Text(one_line(reason), style="dim"), INDENT + 2)


def answerhood_line(chance: float) -> Text:
    """Return what is said of the chance that an answer answers the question, apart from the verdicts on its claims."""
    word = next(word for least, word in ANSWERHOOD if chance >= least)
    return Text.assemble("Answers the question: ", word, (f" ({chance:.2f})", "dim"))


def show_nearest(console: Console, sources: list[Source]) -> None:
    """Show the nearest sources to an unanswered question, each with its relevance or as selected."""
    for source in sources:
        relevance = "selected" if source["kind"] == "page" else f"relevance {source['score']:.2f}"
        line = Text.assemble(_place(source), (f"  {relevance}", "dim"))
        show_indented(console, line, INDENT, first=Text("    · ", style="dim"))
        show_indented(
            console, Text(one_line(excerpt(source["excerpt"], NEAREST_SHOWN)), style="dim italic"), INDENT + 2
        )


def place(title: str, heading: str) -> str:
    """Return a document's title and the headings below it; a title that is also the first heading appears once."""
    below = heading.removeprefix(title).removeprefix(" > ")
    return one_line(f"{title} > {below}" if below else title)


def _place(source: Source) -> Text:
    line = Text(place(source["title"], source["heading"]), style="bold")
    if said := said_place(source):
        line.append(f", {one_line(said)}", style="not bold")
    return line


def _verdict(citation: Citation) -> Text:
    matched = ", matched by its text" if citation["origin"] == "matched" else ""
    return Text.assemble(
        (f"{citation['cell']} · " if "cell" in citation else "", "dim"),
        (f"characters {citation['start']}–{citation['end']} · ", "dim"),
        (citation["verdict"], VERDICT_STYLE[citation["verdict"]]),
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


SHOWN = 280


def show_hits(console: Console, hits: Sequence[Hit]) -> None:
    """Show hits, best first."""
    if not hits:
        console.print(Text("Nothing found.", style="dim"))
    for number, hit in enumerate(hits, start=1):
        segment = hit.segment
        said = said_segment_place(segment)
        console.print(
            Text.assemble(
                (f"{number:>2}. ", "dim"),
                (f"{hit.score:.2f}  ", "cyan"),
                (place(segment.title, segment.heading), "bold"),
                f", {one_line(said)}" if said else "",
            )
        )
        show_indented(console, Text(one_line(excerpt(segment.text, SHOWN))), 4)
        show_indented(console, Text(segment.segment_id, style="dim"), 4)


if TYPE_CHECKING:
    from answers.verification import Verification, VerifiedClaim, VerifiedQuote
    from tools.sessions.session_store import History, StoredMessage


def show_history(console: Console, history: "History") -> None:
    """Show a session's messages in order, each answer with its citations."""
    console.print(Text(one_line(history.session.title), style="bold"))
    for message in history.shown:
        console.print()
        if message.role == "user":
            console.print(Text.assemble(("> ", "bold cyan"), (printable(message.content), "bold")))
        else:
            _show_answer(console, message)
        _show_versions(console, message)


def _show_answer(console: Console, message: "StoredMessage") -> None:
    body = message.body
    numbers = {source["segment_id"]: source["index"] for source in body.get("sources", [])}
    for section in body.get("sections", []):
        markers = "".join(f" [{numbers[i]}]" for i in section["source_ids"] if i in numbers)
        text = Text.assemble(printable(section["text"]), (markers, "bold cyan"))
        show_indented(console, text, 2)
        if not section.get("grounded", True):
            show_indented(console, Text(NOT_GROUNDED, style="dim"), 2)
    show_citations(console, body.get("citations", []), body.get("sources", []))
    show_nearest(console, body.get("nearest", []))
    if message.outcome and message.outcome != "answered":
        show_indented(console, Text(message.outcome, style="yellow"), 2)


def _show_versions(console: Console, message: "StoredMessage") -> None:
    others = [each for each in message.versions if each != message.message_id]
    if others:
        which = f"Version {message.versions.index(message.message_id) + 1} of {len(message.versions)}. Others: "
        show_indented(console, Text(which + ", ".join(f"--branch {each}" for each in others), style="dim"), 2)


MARKS = {"supported": "✓", "unverified": "?", "unsupported": "✗", "contradicted": "✗"}


def show_verdicts(console: Console, found: "Verification", files: Sequence[str]) -> None:
    """Show each claim; ``files`` are the names of the given texts."""
    for claim in found["claims"]:
        style = VERDICT_STYLE[claim["verdict"]]
        show_indented(console, Text(one_line(claim["text"])), 2, first=Text(f"{MARKS[claim['verdict']]} ", style))
        show_indented(
            console,
            Text.assemble((claim["verdict"], style), (_details(claim, numbered=bool(files)), "dim")),
            4,
        )
        for quote in claim["citations"]:
            for each in quote.get("context", []):
                show_indented(console, Text(f"{each['role']}: {one_line(each['text'])}", style="dim"), INDENT)
            show_indented(console, Text(f"“{one_line(quote['quote'])}”", style="italic"), INDENT)
            show_indented(console, Text(_quoted_place(quote, files), style="dim"), INDENT)


def _details(claim: "VerifiedClaim", *, numbered: bool) -> str:
    """Return who gave the verdict and why, and what is wrong with the marks; ``numbered``: they name given texts."""
    said = [f"by {claim['judge']['model']}"] if "judge" in claim else []
    said += [one_line(reason) for reason in claim["reasons"]]
    cited = claim.get("cited", [])
    lost = dict.fromkeys(each["mark"] for each in cited if numbered and each["source"] is None)
    said += [f"{one_line(mark)} names no source" for mark in lost]
    if claim.get("cited_ok") is False and claim["verdict"] == "supported" and len(lost) < len(cited):
        said.append("another source bears it, not the one that it cites")
    return "".join(f" · {each}" for each in said)


def _quoted_place(quote: "VerifiedQuote", files: Sequence[str]) -> str:
    number = quote["source"]
    name = files[number - 1] if number is not None else quote["title"]
    parts = [place(one_line(name), quote["heading"]), one_line(said_place(quote))]
    return f"{', '.join(filter(None, parts))}, characters {quote['start']}–{quote['end']}"
