"""citewell expire: delete the sessions whose time is over."""

from dataclasses import asdict
from typing import Annotated

import typer

from cli.command import opened_database, run, settings_for
from cli.console import print_json
from cli.options import AsJson

Days = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=3650,
        help="How many days a session may be idle; CITEWELL_SESSION_DAYS otherwise.",
        show_default=False,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")]


def expire(days: Days = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Delete sessions that were idle too long, in all workspaces.

    Ephemeral sessions go after 24 hours, and so do the logs of finished runs. A server does the same every hour.
    """
    run(_expire(days, dry_run, as_json), as_json=as_json)


async def _expire(days: int | None, dry_run: bool, as_json: bool) -> None:
    from tools.sessions.expiry import expire as sweep

    settings = settings_for()
    days = days or settings.session_days
    async with opened_database(settings) as storage:
        gone = await sweep(storage.database, days=days, dry_run=dry_run)
    if as_json:
        print_json({"days": days, "dry_run": dry_run, **asdict(gone)})
        return
    done = "Would delete" if dry_run else "Deleted"
    print(
        f"{done} {gone.sessions} sessions idle for {days} days or more, {gone.ephemeral_sessions} ephemeral ones, and "
        f"{gone.run_events} events of finished runs."
    )
