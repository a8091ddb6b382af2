"""citewell links: end links to documents that were given out."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Storage, opened_database, run, settings_for
from cli.console import print_json
from cli.options import AsJson, WorkspaceName, Yes, confirmed

if TYPE_CHECKING:
    from tools.auth.document_links import DocumentLinks
    from tools.settings import Settings

links = typer.Typer(help="End the links to documents that answers hold.", no_args_is_help=True)
OfUser = Annotated[str | None, typer.Option("--user", "-u", help="Only the links of this user.", show_default=False)]


@links.command()
def rotate(yes: Yes = False, as_json: AsJson = False) -> None:
    """End all links of the deployment, by another secret; links that are made from now on are signed with that."""
    run(_rotate(yes, as_json), as_json=as_json)


@links.command()
def revoke(workspace: WorkspaceName = None, user: OfUser = None, yes: Yes = False, as_json: AsJson = False) -> None:
    """End the links of a user, or of all users of a workspace."""
    run(_revoke(workspace, user, yes, as_json), as_json=as_json)


def _links(storage: Storage, settings: "Settings") -> "DocumentLinks":
    from tools.auth.document_links import DocumentLinks

    return DocumentLinks(storage.database, storage.workspaces, settings)


async def _rotate(yes: bool, as_json: bool) -> None:
    settings = settings_for()
    if not confirmed("End all links of the deployment?", yes):
        return
    async with opened_database(settings) as storage:
        await _links(storage, settings).rotate()
    if as_json:
        print_json({"rotated": True})
    else:
        print("Ended all links.")


async def _revoke(workspace: str | None, user: str | None, yes: bool, as_json: bool) -> None:
    settings = settings_for(workspace)
    whose = f"the user {user}" if user is not None else "all users"
    if not confirmed(f"End the links of {whose} in the workspace {settings.workspace}?", yes):
        return
    async with opened_database(settings) as storage:
        await _links(storage, settings).revoke(settings.workspace, user)
    if as_json:
        print_json({"workspace": settings.workspace, "user": user, "revoked": True})
    else:
        print(f"Ended the links of {whose} in the workspace {settings.workspace}.")
