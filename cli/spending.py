"""citewell spending: what was spent on models, by day, model, user or session, and what is left of today."""

from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.command import identity_of, opened_database, run, settings_for
from cli.console import print_json, progress_console, result_console
from cli.options import AsJson, UserName, WorkspaceName

if TYPE_CHECKING:
    from tools.spending.charges import By, LimitUse, SpentRow

Group = Annotated[
    Literal["day", "model", "user", "session"], typer.Option(help="Add up by day, model, user or session.")
]
Days = Annotated[int, typer.Option(min=1, max=3660, help="How many days, up to today.")]
OnlyMe = Annotated[bool, typer.Option("--me", help="Only what CITEWELL_USER or --user spent.")]


def spending(
    by: Group = "day",
    days: Days = 30,
    me: OnlyMe = False,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Show what a workspace spent on models, and what is left of today's limits.

    Costs are exact, by the prices in CITEWELL_SPENDING__PRICES. Of a model without a price no cost is known; its
    tokens are counted all the same.
    """
    run(_spending(by, days, me, workspace, user, as_json), as_json=as_json)


async def _spending(by: "By", days: int, me: bool, workspace: str | None, user: str | None, as_json: bool) -> None:
    from tools.spending.charges import Spending

    settings = settings_for(workspace, user)
    identity = identity_of(settings)
    async with opened_database(settings) as storage:
        spent = Spending(storage.database, storage.workspaces, settings.spending)
        until = spent.gate.today()
        since = until - timedelta(days=days - 1)
        rows = await spent.report(identity, by, since=since, until=until, everyone=not me)
        total = await spent.total(identity, since=since, until=until, everyone=not me)
        limits = await spent.limits(identity, everyone=not me)
    if as_json:
        print_json(_document(by, since, until, rows, total, limits, settings.spending.currency))
        return
    _show(by, rows, total, limits, settings.spending.currency)
    progress_console().print(
        f"{since} to {until}, days in {settings.spending.time_zone}; the next begins {spent.day_ends_at():%H:%M}.",
        style="dim",
    )


def _show(by: str, rows: "list[SpentRow]", total: "SpentRow", limits: "list[LimitUse]", currency: str | None) -> None:
    from cli.tables import show_table

    console = result_console()
    headings = [by.capitalize(), "Runs", "Calls", "Input", "Cached", "Output", "Cost"]
    listed = [_row(row.name or "", row) for row in rows]
    show_table(console, headings, [*listed, _row("total", total)] if listed else [], numbers=range(1, 7))
    if total.unpriced:
        names = ", ".join(total.unpriced)
        progress_console().print(
            f"The cost of {total.unpriced_tokens:,} tokens is not known: no price is set for {names}.",
            style="yellow",
            soft_wrap=True,
        )
    for each in limits:
        unit = currency if each.what == "cost" else each.what
        line = f"Today's limit of the {each.scope}: {_plain(each.used)} of {_plain(each.limit)} {unit}."
        progress_console().print(line, soft_wrap=True)


def _row(name: str, row: "SpentRow") -> list[str]:
    counts = (row.runs, row.calls, row.input_tokens, row.cached_tokens, row.output_tokens)
    return [name, *(f"{count:,}" for count in counts), cost_of(row)]


def cost_of(row: "SpentRow") -> str:
    """Return what is known of a cost, and that it is not known where it is not."""
    known = " + ".join(f"{amount} {currency}" for amount, currency in row.amounts)
    if not row.unpriced:
        return known
    return f"{known} + unknown" if known else "unknown"


def _plain(value: Any) -> str:
    from tools.settings.spending import plain

    return plain(value)


def _document(
    by: str,
    since: date,
    until: date,
    rows: "list[SpentRow]",
    total: "SpentRow",
    limits: "list[LimitUse]",
    currency: str | None,
) -> dict[str, Any]:
    return {
        "by": by,
        "since": since,
        "until": until,
        "total": _use(total),
        "rows": [{"name": row.name, **_use(row)} for row in rows],
        "limits": [
            {
                "of": each.scope,
                "what": each.what,
                "limit": _plain(each.limit),
                "used": _plain(each.used),
                "currency": currency if each.what == "cost" else None,
            }
            for each in limits
        ],
    }


def _use(row: "SpentRow") -> dict[str, Any]:
    return {
        "runs": row.runs,
        "calls": row.calls,
        "estimated_calls": row.estimated_calls,
        "input_tokens": row.input_tokens,
        "cached_input_tokens": row.cached_tokens,
        "output_tokens": row.output_tokens,
        "costs": [{"amount": amount, "currency": currency} for amount, currency in row.amounts],
        "unpriced": row.unpriced,
        "unpriced_tokens": row.unpriced_tokens,
    }
