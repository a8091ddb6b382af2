"""The demo's frame: introductions before each question, and suggestions at the end."""

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from cli.rendering.terminal_run import TerminalRun
from cli.rendering.wrapping import show_indented

if TYPE_CHECKING:
    from tools.library.ingestion import Ingested


class Stage:
    """Shows the demo; runs tell it their events through what ``question`` gives."""

    def __init__(self, console: Console, progress: Console) -> None:
        self._console, self._progress = console, progress

    def open(self) -> None:
        """Return what this is."""
        self._console.print()
        self._say(Text.assemble(("Citewell", "bold"), " answers from your documents and proves every citation."))
        self._say(
            Text(
                "No model, no key, no network: what follows is quoted by the extractive family, in sentences of the "
                "documents themselves.",
                style="dim",
            )
        )
        show_indented(self._progress, Text("Starting PostgreSQL; the first time takes some seconds.", style="dim"), 2)

    def library(self, ingested: "Sequence[Ingested]") -> None:
        """Return what the library holds."""
        new = sum(1 for document in ingested if document.status != "unchanged")
        segments = sum(document.segments for document in ingested)
        self._say(
            f"Library: the manual and five demo documents, {len(ingested)} in all, {segments} segments; {new} new."
        )

    def question(self, number: int, of: int, text: str, shows: str) -> TerminalRun:
        """Introduce the next question by what it shows, and return what listens to its run."""
        self._console.print()
        title = Text.assemble((f"{number} of {of}", "bold"), f" · {shows}")
        self._console.print(Rule(title, align="left", style="dim"))
        self._console.print()
        self._say(Text.assemble(("> ", "bold cyan"), (text, "bold")))
        self._console.print()
        return TerminalRun(self._console, self._console, wrap=True)

    def close(self, session_id: str) -> None:
        """Return what to do next."""
        citewell = "citewell" if shutil.which("citewell") else ".venv/bin/citewell"
        self._console.print()
        self._console.print(Rule(Text("What next", style="bold"), align="left", style="dim"))
        self._console.print()
        steps = (
            ("See it in a browser", "CITEWELL_WORKSPACE=demo make serve"),
            ("Ask this library more", f'{citewell} ask --workspace demo "What does citewell doctor show?"'),
            (
                "Go on with the conversation above",
                f'{citewell} ask --workspace demo --session {session_id} "And in Zurich?"',
            ),
            ("Bring in your own documents", f"{citewell} ingest PATH..."),
            ("Ask them", f'{citewell} ask "Your question"'),
            ("Serve them, to browsers and frontends", "make serve"),
            ("Let a model write", "docs/configuration.md, under Models"),
        )
        for what, how in steps:
            self._say(Text(what))
            self._console.print(Text(f"      {how}", style="cyan"), soft_wrap=True)
        self._console.print()

    def _say(self, text: Text | str) -> None:
        show_indented(self._console, text, 2)
