"""The ``citewell`` command: its sub-commands and what happens with a mistyped line."""

import io
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from cli.ask import ask
from cli.demo import demo
from cli.doctor import doctor
from cli.documents import documents
from cli.eval import evaluate
from cli.exits import Exit
from cli.expire import expire
from cli.ingest import ingest
from cli.keys import keys
from cli.migrate import migrate
from cli.purge import purge
from cli.reindex import reindex
from cli.running import report
from cli.search import search
from cli.serve import serve
from cli.sessions import sessions
from cli.workspaces import workspaces

app = typer.Typer(
    name="citewell",
    help="Ask your documents a question and get an answer whose every citation is proven.",
    epilog="Each command explains itself: citewell ask --help. Try `citewell demo` first.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

app.command()(demo)
app.command()(ingest)
app.command()(ask)
app.command()(search)
app.add_typer(documents, name="documents")
app.add_typer(sessions, name="sessions")
app.add_typer(workspaces, name="workspaces")
app.add_typer(keys, name="keys")
app.command()(serve)
app.command()(doctor)
app.command()(migrate)
app.command()(reindex)
app.command()(purge)
app.command()(expire)
app.add_typer(evaluate, name="eval")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"citewell {version('citewell')}")
        raise typer.Exit


@app.callback()
def _root(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True, callback=_show_version)
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command line; a mistyped one exits with 2, as JSON on stdout where ``--json`` was asked for."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    command = typer.main.get_command(app)
    if "--json" not in sys.argv[1:]:
        command()
    try:
        code = command.main(standalone_mode=False)
    except typer.Abort:
        report("interrupted", "Aborted.", "", as_json=True)
        code = Exit.INTERRUPTED
    except USAGE_ERRORS as error:
        report("usage", error.format_message(), "Run the command with --help.", as_json=True)
        code = Exit.USAGE
    sys.exit(code)


USAGE_ERRORS: type[typer.BadParameter] = typer.BadParameter.__mro__[2]  # the root of all that click raises of usage
