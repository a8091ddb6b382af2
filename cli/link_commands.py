"""citewell links: end links that were given out, to documents and of shares."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Storage, awaited, opened_database, settings_for
from cli.console import print_result
from cli.options import AsJson, WorkspaceName, Yes, confirmed

if TYPE_CHECKING:
    from tools.auth.document_links import DocumentLinks
    from tools.settings import Settings

links = typer.Typer(help="End the links to documents that answers hold, and those of shares.", no_args_is_help=True)
OfUser = Annotated[str | None, typer.Option("--user", "-u", help="Only the links of this user.", show_default=False)]


@links.command()
@awaited
async def rotate(yes: Yes = False, as_json: AsJson = False) -> None:
    """End all links of the deployment, by another secret; links that are made from now on are signed with that."""
    settings = settings_for()
    if not confirmed("End all links of the deployment?", yes):
        return
    async with opened_database(settings) as storage:
        await _links(storage, settings).rotate()
    print_result({"rotated": True}, "Ended all links.", as_json=as_json)


@links.command()
@awaited
async def revoke(
    workspace: WorkspaceName = None, user: OfUser = None, yes: Yes = False, as_json: AsJson = False
) -> None:
    """End the links and shares of a user, or of all users of a workspace."""
    from tools.sessions.shares import Shares

    settings = settings_for(workspace)
    whose = f"the user {user}" if user is not None else "all users"
    if not confirmed(f"End the links and shares of {whose} in the workspace {settings.workspace}?", yes):
        return
    async with opened_database(settings) as storage:
        await _links(storage, settings).revoke(settings.workspace, user)
        shares = await Shares(storage.database, storage.workspaces, settings).revoke_all(settings.workspace, user)
    print_result(
        {"workspace": settings.workspace, "user": user, "revoked": True, "shares": shares},
        f"Ended the links and {shares} shares of {whose} in the workspace {settings.workspace}.",
        as_json=as_json,
    )


def _links(storage: Storage, settings: "Settings") -> "DocumentLinks":
    from tools.auth.document_links import DocumentLinks

    return DocumentLinks(storage.database, storage.workspaces, settings)
