"""citewell workspaces: create, list and delete tenants, and say which tables hold their segments."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Exit, opened_database, run, settings_for
from cli.console import print_json, result_console
from cli.options import AsJson, Yes, confirmed

if TYPE_CHECKING:
    from tools.storage.tenants import WorkspaceSummary

workspaces = typer.Typer(help="Create, list, move and delete workspaces.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="The workspace's name, 1 to 100 characters.", show_default=False)]


Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="1 to 100 characters each.", show_default=False)]
OwnTables = Annotated[
    bool,
    typer.Option("--own-tables", help="Give it tables of its own from the start, as for a library known to be large."),
]


class Tables(StrEnum):
    """The tables that hold a workspace's segments."""

    OWN = "own"
    SHARED = "shared"


Which = Annotated[Tables, typer.Argument(help="Its own, or those that small workspaces share.", show_default=False)]


@workspaces.command()
def create(names: Names, own_tables: OwnTables = False, as_json: AsJson = False) -> None:
    """Create workspaces, all or none, each with its own library."""
    run(_create(names, own_tables, as_json), as_json=as_json)


@workspaces.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the workspaces with the size of each."""
    run(_list(as_json), as_json=as_json)


@workspaces.command()
def tables(name: Name, which: Which, as_json: AsJson = False) -> None:
    """Move a workspace's segments to tables of its own, or back to the shared ones, while it is in use."""
    run(_move_between_tables(name, which, as_json), as_json=as_json)


@workspaces.command()
def delete(name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Delete a workspace with its documents, sessions and everything else it holds."""
    run(_delete(name, yes, as_json), as_json=as_json)


async def _create(names: list[str], own_tables: bool, as_json: bool) -> None:
    async with opened_database(settings_for()) as storage:
        await storage.workspaces.create_many(names, own_tables=own_tables)
    if as_json:
        named = {"workspace": names[0]} if len(names) == 1 else {"workspaces": names}
        print_json({**named, "created": True})
    elif len(names) == 1:
        print(f"Created the workspace {names[0]}.")
    else:
        print(f"Created {len(names)} workspaces.")


async def _move_between_tables(name: str, which: Tables, as_json: bool) -> None:
    from tools.retrieval.placing import give_own_tables, share_tables_again

    move = give_own_tables if which is Tables.OWN else share_tables_again
    async with opened_database(settings_for()) as storage:
        number = await storage.workspaces.number(name)
        async with storage.database.connection() as connection:
            moved = await move(connection, number)
    if as_json:
        print_json({"workspace": name, "tables": which, "moved": moved})
    elif moved:
        print(f"The segments of {name} are in {_told(which)} now.")
    else:
        print(f"The segments of {name} are in {_told(which)} already, or on their way.")


def _told(which: Tables) -> str:
    return "tables of its own" if which is Tables.OWN else "the shared tables"


async def _list(as_json: bool) -> None:
    from cli.tables import show_table

    async with opened_database(settings_for()) as storage:
        found = await storage.workspaces.list()
    if as_json:
        print_json({"workspaces": found})
        return
    rows = [
        [
            w.name,
            str(w.documents),
            str(w.segments),
            str(w.sessions),
            f"{w.created_at:%Y-%m-%d}",
            _tables_of(w),
        ]
        for w in found
    ]
    columns = ["Workspace", "Documents", "Segments", "Sessions", "Created", "Tables"]
    show_table(result_console(), columns, rows, numbers={1, 2, 3})


def _tables_of(workspace: "WorkspaceSummary") -> str:
    if not workspace.own_tables:
        return "shared"
    return "own" if workspace.parts == 1 else f"own, {workspace.parts} parts"


async def _delete(name: str, yes: bool, as_json: bool) -> Exit:
    from graph.errors import NotFound
    from tools.originals.originals import Originals

    settings = settings_for()
    async with opened_database(settings) as storage:
        workspace = next((w for w in await storage.workspaces.list() if w.name == name), None)
        if workspace is None:
            raise NotFound(f"There is no workspace named {name!r}.", suggestion="See `citewell workspaces list`.")
        description = f"{name} with {workspace.documents} documents and {workspace.sessions} sessions"
        if not confirmed(f"Delete {description} for good?", yes):
            return Exit.USAGE
        await Originals.of(settings, storage.database, storage.workspaces).delete_workspace(name)
        await storage.workspaces.delete(name)
    if as_json:
        print_json(
            {"workspace": name, "deleted": True, "documents": workspace.documents, "sessions": workspace.sessions}
        )
    else:
        print(f"Deleted {description}.")
    return Exit.OK
