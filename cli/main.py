"""The ``citewell`` command and its sub-commands."""

from typing import Annotated

import typer

from cli.ask import ask
from cli.audit import audit
from cli.command import TextCommand, run_app
from cli.database_commands import expire, migrate, purge, reindex
from cli.demo import demo
from cli.doctor import doctor
from cli.documents import documents
from cli.eval import evaluate
from cli.ingest import ingest
from cli.jobs import jobs, worker
from cli.judge import judge
from cli.keys import keys, links, logins
from cli.model import model
from cli.search import search
from cli.serve import mcp, serve
from cli.sessions import export, sessions
from cli.spending import spending
from cli.sync import sources_, sync
from cli.verify import verify
from cli.workspaces import workspaces

app = typer.Typer(
    name="citewell",
    help="Ask your documents a question and get an answer whose every citation is proven.",
    epilog="For help on a command: citewell ask --help. Try `citewell demo` first.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

app.command()(demo)
app.command()(ingest)
app.command()(sync)
app.command(cls=TextCommand)(ask)
app.command(cls=TextCommand)(search)
app.command()(verify)
app.add_typer(documents, name="documents")
app.add_typer(jobs, name="jobs")
app.add_typer(sources_, name="sources")
app.add_typer(sessions, name="sessions")
app.command()(export)
app.add_typer(workspaces, name="workspaces")
app.add_typer(keys, name="keys")
app.command()(spending)
app.command()(audit)
app.add_typer(links, name="links")
app.add_typer(logins, name="logins")
app.add_typer(judge, name="judge")
app.add_typer(model, name="model")
app.command()(serve)
app.command()(mcp)
app.command()(worker)
app.command()(doctor)
app.command()(migrate)
app.command()(reindex)
app.command()(purge)
app.command()(expire)
app.add_typer(evaluate, name="eval")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # with its readers of mail and archives a fifth of a start

        typer.echo(f"citewell {version('citewell')}")
        raise typer.Exit


@app.callback()
def _root(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None: ...


def main() -> None:
    """Run the ``citewell`` command."""
    run_app(app)
