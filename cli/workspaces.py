"""citewell workspaces: create, list and delete tenants."""

from typing import Annotated

import typer

from cli.command import Exit, opened_database, run, settings_for
from cli.console import print_json, result_console
from cli.options import AsJson, Yes, confirmed

workspaces = typer.Typer(help="Create, list and delete workspaces.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="The workspace's name, 1 to 100 characters.", show_default=False)]


@workspaces.command()
def create(name: Name, as_json: AsJson = False) -> None:
    """Create a workspace with its own library."""
    run(_create(name, as_json), as_json=as_json)


@workspaces.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the workspaces with the size of each."""
    run(_list(as_json), as_json=as_json)


@workspaces.command()
def delete(name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Delete a workspace with its documents, sessions and everything else it holds."""
    run(_delete(name, yes, as_json), as_json=as_json)


async def _create(name: str, as_json: bool) -> None:
    async with opened_database(settings_for()) as storage:
        await storage.workspaces.create(name)
    if as_json:
        print_json({"workspace": name, "created": True})
    else:
        print(f"Created the workspace {name}.")


async def _list(as_json: bool) -> None:
    from cli.tables import show_table

    async with opened_database(settings_for()) as storage:
        found = await storage.workspaces.list()
    if as_json:
        print_json({"workspaces": found})
        return
    rows = [[w.name, str(w.documents), str(w.segments), str(w.sessions), f"{w.created_at:%Y-%m-%d}"] for w in found]
    show_table(result_console(), ["Workspace", "Documents", "Segments", "Sessions", "Created"], rows, numbers={1, 2, 3})


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
