"""The demo's frame: an introduction before each question, and suggestions at the end."""

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from cli.rendering.terminal_run import TerminalRun
from cli.rendering.wrapping import show_indented
from text.counted import counted

if TYPE_CHECKING:
    from tools.library.ingestion import Ingested


class Stage:
    """Display of the demo; ``question`` returns the view that shows a run's events."""

    def __init__(self, console: Console, progress: Console) -> None:
        self._console, self._progress = console, progress

    def open(self) -> None:
        """Introduce the demo."""
        self._console.print()
        self._print(Text.assemble(("Citewell", "bold"), " answers from your documents and proves every citation."))
        self._print(
            Text(
                "No model, no key, no network: the extractive family answers by showing passages of the documents.",
                style="dim",
            )
        )
        show_indented(self._progress, Text("Starting PostgreSQL; the first time takes a few seconds.", style="dim"), 2)

    def library(self, ingested: "Sequence[Ingested]") -> None:
        """Show how much the library holds."""
        new = sum(1 for document in ingested if document.status != "unchanged")
        held = f"{len(ingested)} in all, {counted(sum(document.segments for document in ingested), 'segment')}"
        self._print(f"Library: the manual and nine demo documents, {held}; {new} new.")

    def question(self, number: int, of: int, text: str, shows: str) -> TerminalRun:
        """Introduce the next question, and return the view that shows its run."""
        self._console.print()
        title = Text.assemble((f"{number} of {of}", "bold"), f" · {shows}")
        self._console.print(Rule(title, align="left", style="dim"))
        self._console.print()
        self._print(Text.assemble(("> ", "bold cyan"), (text, "bold")))
        self._console.print()
        return TerminalRun(self._console, self._console, wrap=True)

    def close(self, session_id: str) -> None:
        """Suggest what to do next."""
        citewell = "citewell" if shutil.which("citewell") else ".venv/bin/citewell"
        self._console.print()
        self._console.print(Rule(Text("What next", style="bold"), align="left", style="dim"))
        self._console.print()
        steps = (
            ("See it in a browser", f"{citewell} serve --workspace demo"),
            ("Ask this library another question", f'{citewell} ask --workspace demo "What does citewell doctor show?"'),
            (
                "Continue the conversation above",
                f'{citewell} ask --workspace demo --session {session_id} "And in Zurich?"',
            ),
            ("Add your own documents", f"{citewell} ingest PATH..."),
            ("Ask about them", f'{citewell} ask "Your question"'),
            ("Serve them to browsers and frontends", f"{citewell} serve"),
            ("Let a language model write", f"{citewell} model add"),
        )
        for what, how in steps:
            self._print(Text(what))
            self._console.print(Text(f"      {how}", style="cyan"), soft_wrap=True)
        self._console.print()

    def _print(self, text: Text | str) -> None:
        show_indented(self._console, text, 2)
