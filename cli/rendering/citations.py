"""The proof of an answer as a person reads it: where each quote stands, and its words."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from cli.rendering.safe import one_line
from graph.evidence import Citation, Source

VERDICT_STYLE = {"supported": "green", "unverified": "yellow", "unsupported": "red", "contradicted": "bold red"}


def show_citations(console: Console, citations: list[Citation], sources: list[Source]) -> None:
    """List citations under the number of their source: document, heading, page, offsets, quote."""
    by_index = {source["index"]: source for source in sources}
    shown: set[int] = set()
    for citation in sorted(citations, key=lambda c: (c["source_index"], c["start"])):
        index = citation["source_index"]
        if index not in shown:
            shown.add(index)
            console.print(Padding(_source_line(by_index[index]), (0, 0, 0, 2)))
        console.print(Padding(_quote(citation), (0, 0, 0, 6)))


def show_nearest(console: Console, sources: list[Source]) -> None:
    """List what came nearest to a question that was not answered, with its score."""
    for source in sources:
        line = Text.assemble(("· ", "dim"), _place(source), (f"  relevance {source['score']:.2f}", "dim"))
        console.print(Padding(line, (0, 0, 0, 2)))
        console.print(Padding(Text(one_line(source["excerpt"])[:160], style="dim italic"), (0, 0, 0, 6)))


def place(title: str, heading: str) -> str:
    """Name a place by its document and the headings above it; a title that is its own first heading stands once."""
    below = heading.removeprefix(title).removeprefix(" > ")
    return one_line(f"{title} > {below}" if below else title)


def _source_line(source: Source) -> Text:
    return Text.assemble((f"[{source['index']}] ", "bold cyan"), _place(source))


def _place(source: Source) -> Text:
    line = Text(place(source["title"], source["heading"]), style="bold")
    if source["page_idx"] is not None:
        line.append(f", page {source['page_idx'] + 1}", style="default")
    return line


def _quote(citation: Citation) -> Text:
    return Text.assemble(
        (f"“{one_line(citation['quote'])}”", "italic"),
        (f"  characters {citation['start']}–{citation['end']}, ", "dim"),
        (citation["verdict"], VERDICT_STYLE[citation["verdict"]]),
        (" (matched, not cited)" if citation["origin"] == "matched" else "", "dim"),
    )
