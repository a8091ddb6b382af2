"""The proof of an answer as a person reads it: where each quote stands, and its words."""

from rich.console import Console
from rich.text import Text

from cli.rendering.indent import show_indented
from cli.rendering.safe import one_line
from graph.evidence import Citation, SectionClaim, Source
from graph.sources import excerpt

Quoted = tuple[int, int, int, str]

INDENT = 6
NEAREST_SHOWN = 150
FRESHNESS_STYLE = {"moved": "yellow", "changed": "bold red", "deleted": "bold red"}
VERDICT_STYLE = {"supported": "green", "unverified": "yellow", "unsupported": "red", "contradicted": "bold red"}


def show_citations(console: Console, citations: list[Citation], sources: list[Source]) -> None:
    """List citations under the number of their source: document, heading, page, then offsets, verdict and quote.

    A quote that proves several claims with the same verdict stands once.
    """
    by_index = {source["index"]: source for source in sources}
    shown: set[int] = set()
    told: set[Quoted] = set()
    for citation in sorted(citations, key=lambda c: (c["source_index"], c["start"])):
        index = citation["source_index"]
        if quoted(citation) in told:
            continue
        told.add(quoted(citation))
        if index not in shown:
            shown.add(index)
            marker = Text(f"  [{index}] ", style="bold cyan")
            show_indented(console, _place(by_index[index]), INDENT, first=marker)
        show_indented(console, _standing(citation), INDENT)
        show_indented(console, Text(f"“{one_line(citation['quote'])}”", style="italic"), INDENT + 2)


def quoted(citation: Citation) -> Quoted:
    """Tell by what a quote counts as shown: its source, its offsets and its verdict."""
    return citation["source_index"], citation["start"], citation["end"], citation["verdict"]


def show_doubts(console: Console, claims: list[SectionClaim]) -> None:
    """List the claims that are not proven, each with its verdict and the reasons for it."""
    for claim in claims:
        show_indented(console, Text(claim["verdict"], style=VERDICT_STYLE[claim["verdict"]]), 2)
        show_indented(console, Text(f"“{one_line(excerpt(claim['text'], NEAREST_SHOWN))}”"), INDENT)
        for reason in claim["reasons"]:
            show_indented(console, Text(one_line(reason), style="dim"), INDENT + 2)


def show_nearest(console: Console, sources: list[Source]) -> None:
    """List what came nearest to a question that was not answered, with its relevance or as selected."""
    for source in sources:
        standing = "selected" if source["kind"] == "page" else f"relevance {source['score']:.2f}"
        line = Text.assemble(_place(source), (f"  {standing}", "dim"))
        show_indented(console, line, INDENT, first=Text("    · ", style="dim"))
        show_indented(
            console, Text(one_line(excerpt(source["excerpt"], NEAREST_SHOWN)), style="dim italic"), INDENT + 2
        )


def place(title: str, heading: str) -> str:
    """Name a place by its document and the headings above it; a title that is its own first heading stands once."""
    below = heading.removeprefix(title).removeprefix(" > ")
    return one_line(f"{title} > {below}" if below else title)


def _place(source: Source) -> Text:
    line = Text(place(source["title"], source["heading"]), style="bold")
    if source["page_idx"] is not None:
        line.append(f", page {source['page_idx'] + 1}", style="not bold")
    return line


def _standing(citation: Citation) -> Text:
    matched = ", matched by its text" if citation["origin"] == "matched" else ""
    return Text.assemble(
        (f"characters {citation['start']}–{citation['end']} · ", "dim"),
        (citation["verdict"], VERDICT_STYLE[citation["verdict"]]),
        (matched, "dim"),
        *_since(citation),
    )


def _since(citation: Citation) -> list[tuple[str, str]]:
    """Say what has become of the quote since, unless it stands where it stood."""
    freshness = citation.get("freshness", "fresh")
    if freshness == "fresh":
        return []
    now = citation.get("now")
    where = f" to {now['start']}–{now['end']}" if now and freshness == "moved" else ""
    page = f", page {now['page_idx'] + 1}" if now and where and now["page_idx"] is not None else ""
    return [(", since ", "dim"), (freshness, FRESHNESS_STYLE[freshness]), (where + page, "dim")]
