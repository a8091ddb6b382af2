"""The options that several commands share, worded once."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout; progress stays on stderr.")]
WorkspaceName = Annotated[
    str | None, typer.Option("--workspace", "-w", help="The workspace to work in; CITEWELL_WORKSPACE otherwise.")
]
UserName = Annotated[str | None, typer.Option("--user", "-u", help="The user to act as; CITEWELL_USER otherwise.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Go ahead without asking.")]
