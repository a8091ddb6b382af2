"""citewell audit: show who asked, read, changed and was refused."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.command import awaited, opened_database, settings_for
from cli.console import print_rows
from cli.options import AsJson

if TYPE_CHECKING:
    from tools.auth.audit_log import StoredEntry

LONGEST_PAGE = 1000
HEADINGS = ["Time", "Workspace", "User", "Credential", "Action", "Request", "Target", "Outcome", "Address", "Times"]

OfWorkspace = Annotated[
    str | None, typer.Option("--workspace", "-w", help="Only this workspace's entries.", show_default=False)
]
OfUser = Annotated[str | None, typer.Option("--user", "-u", help="Only this user's entries.", show_default=False)]
OfAction = Annotated[
    Literal["ask", "read", "change"] | None, typer.Option("--action", help="Only entries of this kind.")
]
OfOutcome = Annotated[
    Literal["done", "refused", "not_found", "invalid", "failed"] | None,
    typer.Option("--outcome", help="Only entries that ended so."),
]
Limit = Annotated[int, typer.Option("--limit", min=1, max=LONGEST_PAGE, help="How many entries.")]
From = Annotated[str | None, typer.Option("--cursor", help="Where the last page ended.", show_default=False)]


@awaited
async def audit(
    workspace: OfWorkspace = None,
    user: OfUser = None,
    action: OfAction = None,
    outcome: OfOutcome = None,
    limit: Limit = 50,
    cursor: From = None,
    as_json: AsJson = False,
) -> None:
    """Show the audit log, newest first: who did what by which credentials, from where, and how it ended."""
    from tools.auth.audit_log import AuditLog

    async with opened_database(settings_for()) as storage:
        page = await AuditLog(storage.database).list(
            workspace=workspace, user=user, action=action, outcome=outcome, limit=limit, cursor=cursor
        )
    document = {"entries": page.entries, "next_cursor": page.next_cursor}
    print_rows(document, HEADINGS, [_row(entry) for entry in page.entries], as_json=as_json, numbers=[9])
    if not as_json and page.next_cursor is not None:
        typer.echo(f"There are more: --cursor {page.next_cursor}", err=True)


def _row(entry: "StoredEntry") -> list[str]:
    outcome = entry.outcome if entry.reason is None else f"{entry.outcome}: {entry.reason}"
    return [
        f"{entry.at:%Y-%m-%d %H:%M:%S}",
        entry.workspace or "",
        entry.user or "",
        entry.credential or "",
        entry.action,
        entry.request,
        entry.target or "",
        outcome,
        entry.address or "",
        str(entry.times),
    ]
