"""Search hits as a person scans them: relevance, place, the beginning of the text."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from cli.rendering.citations import place
from cli.rendering.indent import show_indented
from cli.rendering.safe import one_line
from graph.evidence import Hit
from graph.sources import excerpt

SHOWN = 280


def show_hits(console: Console, hits: Sequence[Hit]) -> None:
    """Show hits, best first."""
    if not hits:
        console.print(Text("Nothing found.", style="dim"))
    for number, hit in enumerate(hits, start=1):
        segment = hit.segment
        page = f", page {segment.page_idx + 1}" if segment.page_idx is not None else ""
        console.print(
            Text.assemble(
                (f"{number:>2}. ", "dim"),
                (f"{hit.score:.2f}  ", "cyan"),
                (place(segment.title, segment.heading), "bold"),
                page,
            )
        )
        show_indented(console, Text(one_line(excerpt(segment.text, SHOWN))), 4)
        show_indented(console, Text(segment.segment_id, style="dim"), 4)
