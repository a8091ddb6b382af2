"""A stored conversation, as it was said."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from cli.rendering.citations import show_citations, show_nearest
from cli.rendering.indent import show_indented
from cli.rendering.safe import one_line, printable

if TYPE_CHECKING:
    from tools.sessions import History, StoredMessage


def show_history(console: Console, history: "History") -> None:
    """Show a session's messages in order, each answer with its proof."""
    console.print(Text(one_line(history.session.title), style="bold"))
    for message in history.messages:
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
    show_citations(console, body.get("citations", []), body.get("sources", []))
    show_nearest(console, body.get("nearest", []))
    if message.outcome and message.outcome != "answered":
        show_indented(console, Text(message.outcome, style="yellow"), 2)


def _show_versions(console: Console, message: "StoredMessage") -> None:
    others = [each for each in message.versions if each != message.message_id]
    if others:
        which = f"Version {message.versions.index(message.message_id) + 1} of {len(message.versions)}. Others: "
        show_indented(console, Text(which + ", ".join(f"--branch {each}" for each in others), style="dim"), 2)
