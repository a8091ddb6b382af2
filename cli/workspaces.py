"""citewell workspaces: create, list and delete tenants, move them, and say which tables hold their segments."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.command import Exit, awaited, opened_database, settings_for
from cli.console import print_json, print_result, print_rows, progress_console, result_console, show_table
from cli.options import AsJson, Yes, confirmed
from text.counted import counted

if TYPE_CHECKING:
    from tools.moves.moving import OutsideOriginals, Plan
    from tools.settings import Settings
    from tools.storage.tenants import WorkspaceSummary

workspaces = typer.Typer(help="Create, list, move and delete workspaces.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="The workspace's name, 1 to 100 characters.", show_default=False)]


Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="1 to 100 characters each.", show_default=False)]
OwnTables = Annotated[
    bool,
    typer.Option("--own-tables", help="Give it tables of its own from the start, as for a library known to be large."),
]


MoveTo = Annotated[
    str | None,
    typer.Option(
        "--to",
        envvar="CITEWELL_MOVE_TO",
        help="The other database: postgresql://user:password@host:port/database.",
        show_default=False,
        show_envvar=True,
    ),
]
MovedOriginals = Annotated[
    str | None,
    typer.Option(
        "--originals",
        help="The CITEWELL_ORIGINALS of the other deployment, where originals are in a folder or a bucket here.",
        show_default=False,
    ),
]
WaitForRuns = Annotated[
    float, typer.Option("--wait", min=0, help="Seconds to wait for questions that are being answered.")
]
ClosedFor = Annotated[
    float, typer.Option("--closed", min=1, help="Seconds for which changes may be refused before it is given up.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would move, and what stays.")]
Abandon = Annotated[
    bool, typer.Option("--abandon", help="Give a half-done move up; with --to what came across is deleted there.")
]
LEAVING = ("copying", "draining", "closed", "sealed")


Tables = Literal["own", "shared"]
Which = Annotated[Tables, typer.Argument(help="Its own, or those that small workspaces share.", show_default=False)]


@workspaces.command()
@awaited
async def create(names: Names, own_tables: OwnTables = False, as_json: AsJson = False) -> None:
    """Create workspaces, all or none, each with its own library."""
    async with opened_database(settings_for()) as storage:
        await storage.workspaces.create_many(names, own_tables=own_tables)
    is_one = len(names) == 1
    said = f"the workspace {names[0]}" if is_one else counted(len(names), "workspace")
    named = {"workspace": names[0]} if is_one else {"workspaces": names}
    print_result({**named, "created": True}, f"Created {said}.", as_json=as_json)


@workspaces.command("list")
@awaited
async def list_(as_json: AsJson = False) -> None:
    """List the workspaces with the size of each."""
    async with opened_database(settings_for()) as storage:
        found = await storage.workspaces.list()
    any_moves = any(w.move for w in found)
    rows = [
        [
            w.name,
            str(w.documents),
            str(w.segments),
            str(w.sessions),
            f"{w.created_at:%Y-%m-%d}",
            _tables_of(w),
            *([_move_in_words(w)] if any_moves else []),
        ]
        for w in found
    ]
    columns = ["Workspace", "Documents", "Segments", "Sessions", "Created", "Tables", *(["Move"] if any_moves else [])]
    print_rows({"workspaces": found}, columns, rows, as_json=as_json, numbers={1, 2, 3})


@workspaces.command()
@awaited
async def tables(name: Name, which: Which, as_json: AsJson = False) -> None:
    """Move a workspace's segments to tables of its own, or back to the shared ones, while it is in use."""
    from tools.retrieval.placing import give_own_tables, share_tables_again

    move = give_own_tables if which == "own" else share_tables_again
    async with opened_database(settings_for()) as storage:
        number = await storage.workspaces.number(name)
        async with storage.database.connection() as connection:
            moved = await move(connection, number)
    since = "now" if moved else "already, or on their way"
    where = "tables of its own" if which == "own" else "the shared tables"
    said = f"The segments of {name} are in {where} {since}."
    print_result({"workspace": name, "tables": which, "moved": moved}, said, as_json=as_json)


@workspaces.command()
@awaited
async def move(
    name: Name,
    to: MoveTo = None,
    originals: MovedOriginals = None,
    wait: WaitForRuns = 60.0,
    closed: ClosedFor = 30.0,
    dry_run: DryRun = False,
    abandon: Abandon = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> Exit:
    """Move a workspace to another database, while it is in use; run it again where it was cut short.

    Changes are refused for a moment at the end. Afterwards this database refuses the workspace, until it is deleted.
    """
    from tools.moves.moving import MoveLimits, opened_move

    if abandon:
        await _abandon(name, to, as_json)
        return Exit.OK
    settings, to = settings_for(), _named(to)
    stores = _outside(settings, originals)
    async with opened_database(settings) as storage:
        limits = MoveLimits(runs=wait, closed=closed)
        opened = opened_move(
            storage.database.url, to, name, limits=limits, originals=stores, on_progress=_print_progress
        )
        async with opened as moving:
            plan = await moving.plan()
            if dry_run:
                _show_plan(plan, as_json)
                return Exit.OK
            if not as_json:
                _print_progress(f"Of {name}, {counted(sum(plan.rows.values()), 'row')} to be in {plan.other}.")
            if not confirmed(f"Move {name} to {plan.other}?", yes):
                return Exit.USAGE
            report = await moving.run()
    if as_json:
        print_json(report)
        return Exit.OK
    if report.passes and report.changes_refused_seconds:
        print(
            f"Moved {name} to {report.other}: changes were refused for {report.changes_refused_seconds:.1f} s, "
            f"new questions for {report.questions_refused_seconds:.1f} s."
        )
    else:
        print(f"Moved {name} to {report.other}.")
    print(f"Send its requests there now. Then delete it here: citewell workspaces delete {name}")
    return Exit.OK


@workspaces.command()
@awaited
async def delete(name: Name, yes: Yes = False, as_json: AsJson = False) -> Exit:
    """Delete a workspace with its documents, sessions and everything else it holds."""
    from graph.errors import InvalidRequest
    from tools.storage.tenants import UnknownWorkspace

    async with opened_database(settings_for()) as storage:
        workspace = next((w for w in await storage.workspaces.list() if w.name == name), None)
        if workspace is None:
            raise UnknownWorkspace(name, suggestion="See `citewell workspaces list`.")
        if workspace.move in LEAVING:
            raise InvalidRequest(
                f"{name!r} is half-way to {workspace.other}.",
                suggestion=f"Run `citewell workspaces move {name} --abandon` first.",
            )
        held = f"{counted(workspace.documents, 'document')} and {counted(workspace.sessions, 'session')}"
        description = f"{name} with {held}"
        if not confirmed(f"Delete {description} for good?", yes):
            return Exit.USAGE
        await storage.originals.delete_workspace(name)
        await storage.workspaces.delete(name)
    counts = {"documents": workspace.documents, "sessions": workspace.sessions}
    print_result({"workspace": name, "deleted": True, **counts}, f"Deleted {description}.", as_json=as_json)
    return Exit.OK


def _named(to: str | None) -> str:
    from graph.errors import InvalidRequest

    if to is None:
        raise InvalidRequest("--to: which database?", suggestion="Name it as postgresql://user:password@host/database.")
    return to


def _outside(settings: "Settings", originals: str | None) -> "OutsideOriginals | None":
    from graph.errors import InvalidRequest
    from tools.moves.moving import OutsideOriginals
    from tools.originals.originals import place_of
    from tools.originals.stores import OFF, POSTGRESQL, open_object_store

    if originals is None:
        return None
    here, there = place_of(settings), place_of(settings.model_copy(update={"originals": originals}))
    if here in (OFF, POSTGRESQL) or there in (OFF, POSTGRESQL, here):
        raise InvalidRequest(
            "--originals: names another folder or bucket than CITEWELL_ORIGINALS, which names one, too.",
            suggestion="Leave it out where originals are in PostgreSQL; a store that two databases share would mix "
            "their workspaces.",
        )
    return OutsideOriginals(here, open_object_store(here), open_object_store(there), there)


def _print_progress(line: str) -> None:
    progress_console().print(line, soft_wrap=True)


def _show_plan(plan: "Plan", as_json: bool) -> None:
    from tools.moves.moved_tables import LEFT_OUT

    if as_json:
        print_json({**asdict(plan), "stays": LEFT_OUT})
        return
    rows = [[table, f"{count:,}"] for table, count in plan.rows.items()]
    show_table(result_console(), ["Table", "Rows to move"], rows, numbers={1})
    if plan.outside_originals:
        print(f"With them {counted(plan.outside_originals, 'original')} outside of PostgreSQL.")
    print("What is not of the workspace stays: " + ", ".join(sorted(LEFT_OUT)) + ".")


async def _abandon(name: str, to: str | None, as_json: bool) -> None:
    from tools.moves.moving import abandon_move

    async with opened_database(settings_for()) as storage:
        other = await abandon_move(storage.database.url, name, to)
    if as_json:
        print_json({"workspace": name, "abandoned": True, "other": other, "deleted_there": to is not None})
        return
    print(f"{name} stays here, and takes changes.")
    if to is None:
        print(f"What came across is still in {other}: delete it there with `citewell workspaces delete {name}`.")


def _move_in_words(workspace: "WorkspaceSummary") -> str:
    if workspace.move is None:
        return ""
    how = {"moved": "moved to", "arriving": "comes from", "dropped": "left by a move from"}
    return f"{how.get(workspace.move, 'half-way to')} {workspace.other}"


def _tables_of(workspace: "WorkspaceSummary") -> str:
    if not workspace.own_tables:
        return "shared"
    return "own" if workspace.parts == 1 else f"own, {counted(workspace.parts, 'part')}"
