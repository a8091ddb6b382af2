"""citewell logins: list and revoke the logins of people."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import awaited, opened_database, settings_for
from cli.console import print_result, print_rows
from cli.options import AsJson
from graph.errors import InvalidRequest

if TYPE_CHECKING:
    from tools.auth.login_store import Login

logins = typer.Typer(help="List and revoke the logins of people.", no_args_is_help=True)
OfUser = Annotated[str | None, typer.Option("--user", "-u", help="Only those of this user.", show_default=False)]
LoginId = Annotated[str | None, typer.Argument(help="The login's id, as the list shows it.", show_default=False)]


@logins.command("list")
@awaited
async def list_(user: OfUser = None, as_json: AsJson = False) -> None:
    """List the logins that last, by id."""
    from tools.auth.login_store import Logins

    settings = settings_for()
    async with opened_database(settings) as storage:
        found = await Logins(storage.database, settings.oidc).list(user)
    headings = ["Login", "User", "Name", "Workspaces", "Groups", "Since", "Last used", "Until"]
    print_rows({"logins": found}, headings, [_row(login) for login in found], as_json=as_json)


@logins.command()
@awaited
async def revoke(login_id: LoginId = None, user: OfUser = None, as_json: AsJson = False) -> None:
    """Revoke a login, or with --user all of a user's, at once and in every process."""
    from tools.auth.login_store import Logins

    if (login_id is None) == (user is None):
        raise InvalidRequest("Name a login or a user, and not both.", suggestion="See `citewell logins list`.")
    settings = settings_for()
    async with opened_database(settings) as storage:
        stored = Logins(storage.database, settings.oidc)
        if user is not None:
            count = await stored.revoke_user(user)
        else:
            await stored.revoke(login_id or "")
            count = 1
    print_result({"revoked": count}, f"Revoked {count} {'login' if count == 1 else 'logins'}.", as_json=as_json)


def _row(login: "Login") -> list[str]:
    lists = (", ".join(login.workspaces), ", ".join(login.groups))
    times = (f"{at:%Y-%m-%d %H:%M}" for at in (login.created_at, login.last_seen_at, login.expires_at))
    return [login.login_id, login.user, login.name, *lists, *times]
