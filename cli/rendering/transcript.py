"""Views of search hits, stored conversations, and the verdicts on somebody's text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from rich.console import Console
from rich.text import Text

from answers.citations import excerpt, said_place, said_segment_place
from answers.marks import grade_of
from cli.console import one_line, printable
from cli.rendering.answer import INDENT, VERDICT_STYLE, place, show_answer
from cli.rendering.wrapping import show_indented
from graph.evidence import Hit, Message

if TYPE_CHECKING:
    from answers.verification import Verification, VerifiedClaim, VerifiedQuote
    from tools.sessions.session_store import History, StoredMessage

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
                (place(segment.title, segment.heading), "bold"),
                f", {one_line(said)}" if said else "",
            )
        )
        show_indented(console, Text(one_line(excerpt(segment.text, SHOWN))), 4)
        show_indented(console, Text(segment.segment_id, style="dim"), 4)


def show_history(console: Console, history: "History") -> None:
    """Show a session's messages in order, each answer with its citations."""
    console.print(Text(one_line(history.session.title), style="bold"))
    for message in history.shown:
        console.print()
        if message.role == "user":
            console.print(Text.assemble(("> ", "bold cyan"), (printable(message.content), "bold")))
        else:
            show_answer(console, cast(Message, message.body), wrap=True)
            if message.outcome and message.outcome != "answered":
                show_indented(console, Text(message.outcome, style="yellow"), 2)
        _show_versions(console, message)


def _show_versions(console: Console, message: "StoredMessage") -> None:
    others = [each for each in message.versions if each != message.message_id]
    if others:
        which = f"Version {message.versions.index(message.message_id) + 1} of {len(message.versions)}. Others: "
        show_indented(console, Text(which + ", ".join(f"--branch {each}" for each in others), style="dim"), 2)


SIGNS = {"supported": "✓", "quoted": "=", "checked": "~", "unverified": "?", "unsupported": "✗", "contradicted": "✗"}


def show_verdicts(console: Console, found: "Verification", files: Sequence[str]) -> None:
    """Show each claim; ``files`` are the names of the given texts."""
    for claim in found["claims"]:
        verdict = grade_of(claim)
        style = VERDICT_STYLE[verdict]
        show_indented(console, Text(one_line(claim["text"])), 2, first=Text(f"{SIGNS[verdict]} ", style))
        show_indented(console, Text.assemble((verdict, style), (_details(claim, numbered=bool(files)), "dim")), 4)
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
