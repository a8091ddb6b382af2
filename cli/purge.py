"""citewell purge: remove for good what was deleted or has expired."""

from datetime import timedelta
from typing import Annotated

import typer

from cli.command import Exit, opened_database, run, settings_for
from cli.console import print_json
from cli.options import AsJson, WorkspaceName, Yes
from cli.workspaces import confirmed

Days = Annotated[
    int, typer.Option("--older-than-days", min=0, help="Only what was deleted this many days ago or more.")
]


def purge(
    older_than_days: Days = 0, yes: Yes = False, workspace: WorkspaceName = None, as_json: AsJson = False
) -> None:
    """Remove deleted documents for good.

    Removes what was deleted or has expired in a workspace, whoever's it was.
    """
    run(_purge(older_than_days, yes, workspace, as_json), as_json=as_json)


async def _purge(days: int, yes: bool, workspace: str | None, as_json: bool) -> Exit:
    from tools.library.catalogue import Documents

    settings = settings_for(workspace)
    if not confirmed(f"Remove every deleted document of the workspace {settings.workspace} for good?", yes):
        return Exit.USAGE
    async with opened_database(settings) as storage:
        documents = Documents(storage.database, storage.workspaces)
        purged = await documents.purge(settings.workspace, older_than=timedelta(days=days))
    if as_json:
        print_json({"workspace": settings.workspace, "purged": purged})
    else:
        print(f"Removed {purged} documents.")
    return Exit.OK
