"""View of verified claims: a mark and the verdict, who gave it, the reasons, and the quotes beneath."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from answers.citations import said_place
from cli.rendering.transcript import VERDICT_STYLE, place
from cli.rendering.wrapping import show_indented
from cli.tables import one_line

if TYPE_CHECKING:
    from answers.verification import Verification, VerifiedClaim, VerifiedQuote

INDENT = 2
MARKS = {"supported": "✓", "unverified": "?", "unsupported": "✗", "contradicted": "✗"}


def show_verdicts(console: Console, found: "Verification", files: Sequence[str]) -> None:
    """Show each claim; ``files`` are the names of the given texts."""
    for claim in found["claims"]:
        style = VERDICT_STYLE[claim["verdict"]]
        show_indented(console, Text(one_line(claim["text"])), INDENT, first=Text(f"{MARKS[claim['verdict']]} ", style))
        show_indented(
            console,
            Text.assemble((claim["verdict"], style), (_details(claim, numbered=bool(files)), "dim")),
            INDENT + 2,
        )
        for quote in claim["citations"]:
            for each in quote.get("context", []):
                show_indented(console, Text(f"{each['role']}: {one_line(each['text'])}", style="dim"), INDENT + 4)
            show_indented(console, Text(f"“{one_line(quote['quote'])}”", style="italic"), INDENT + 4)
            show_indented(console, Text(_place(quote, files), style="dim"), INDENT + 4)


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


def _place(quote: "VerifiedQuote", files: Sequence[str]) -> str:
    number = quote["source"]
    name = files[number - 1] if number is not None else quote["title"]
    parts = [place(one_line(name), quote["heading"]), one_line(said_place(quote))]
    return f"{', '.join(filter(None, parts))}, characters {quote['start']}–{quote['end']}"
