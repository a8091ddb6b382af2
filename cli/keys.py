"""citewell keys: create, list and revoke API keys."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Storage, opened_database, run, settings_for
from cli.console import print_json, progress_console, result_console
from cli.options import AsJson, UserName, WorkspaceName

if TYPE_CHECKING:
    from datetime import datetime

    from tools.auth.api_keys import ApiKey, ApiKeys

keys = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)
Label = Annotated[str, typer.Option(help="What the key is for, shown in the list.", show_default=False)]
KeyId = Annotated[str, typer.Argument(help="The key's id, as the list shows it.", show_default=False)]
OfWorkspace = Annotated[
    str | None, typer.Option("--workspace", "-w", help="Only the keys of this workspace.", show_default=False)
]


@keys.command()
def create(workspace: WorkspaceName = None, user: UserName = None, label: Label = "", as_json: AsJson = False) -> None:
    """Create a key that authenticates as a user of a workspace. It is shown only once."""
    run(_create(workspace, user, label, as_json), as_json=as_json)


@keys.command("list")
def list_(workspace: OfWorkspace = None, as_json: AsJson = False) -> None:
    """List the keys by id, revoked ones included."""
    run(_list(workspace, as_json), as_json=as_json)


@keys.command()
def revoke(key_id: KeyId, as_json: AsJson = False) -> None:
    """Revoke a key at once, in every process."""
    run(_revoke(key_id, as_json), as_json=as_json)


def _keys(storage: Storage) -> "ApiKeys":
    from tools.auth.api_keys import ApiKeys

    return ApiKeys(storage.database, storage.workspaces)


async def _create(workspace: str | None, user: str | None, label: str, as_json: bool) -> None:
    from tools.auth.api_keys import key_id

    settings = settings_for(workspace, user)
    async with opened_database(settings) as storage:
        key = await _keys(storage).create(settings.workspace, settings.user, label=label)
    if as_json:
        made = {"key_id": key_id(key), "workspace": settings.workspace, "user": settings.user, "label": label}
        print_json({"key": key, **made})
    else:
        print(key)
        owner = f"the user {settings.user} of the workspace {settings.workspace}"
        progress_console().print(
            f"The key {key_id(key)} authenticates as {owner}. It is not shown again.", markup=False
        )


async def _list(workspace: str | None, as_json: bool) -> None:
    from cli.tables import show_table

    async with opened_database(settings_for()) as storage:
        found = await _keys(storage).list(workspace)
    if as_json:
        print_json({"keys": found})
        return
    headings = ["Key", "Workspace", "User", "Label", "Created", "Last used", "Revoked"]
    show_table(result_console(), headings, [_row(key) for key in found])


def _row(key: "ApiKey") -> list[str]:
    return [
        key.key_id,
        key.workspace,
        key.user,
        key.label,
        *map(_day, (key.created_at, key.last_used_at, key.revoked_at)),
    ]


def _day(at: "datetime | None") -> str:
    return "" if at is None else f"{at:%Y-%m-%d}"


async def _revoke(key_id: str, as_json: bool) -> None:
    async with opened_database(settings_for()) as storage:
        await _keys(storage).revoke(key_id)
    if as_json:
        print_json({"key_id": key_id, "revoked": True})
    else:
        print(f"Revoked the key {key_id}.")
