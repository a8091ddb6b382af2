"""citewell spending: what was spent on models, by day, model, user or session, and what is left of today."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.command import Caller, acting
from cli.console import print_json, progress_console, result_console, show_table

if TYPE_CHECKING:
    from tools.spending.charges import LimitUse, SpentRow

Group = Annotated[
    Literal["day", "model", "user", "session"], typer.Option(help="Add up by day, model, user or session.")
]
Days = Annotated[int, typer.Option(min=1, max=3660, help="How many days, up to today.")]
OnlyMe = Annotated[bool, typer.Option("--me", help="Only what CITEWELL_USER or --user spent.")]


@acting
async def spending(caller: Caller, by: Group = "day", days: Days = 30, me: OnlyMe = False) -> None:
    """Show what a workspace spent on models, and what is left of today's limits.

    Costs are exact, by the prices in CITEWELL_SPENDING__PRICES. Of a model without a price no cost is known; its
    tokens are counted all the same.
    """
    from tools.spending.charges import Spending

    async with caller.storage() as storage:
        settings, identity = storage.settings, storage.identity
        spent = Spending(storage.database, storage.workspaces, settings.spending)
        until = spent.gate.today()
        since = until - timedelta(days=days - 1)
        rows = await spent.report(identity, by, since=since, until=until, everyone=not me)
        [total] = await spent.report(identity, None, since=since, until=until, everyone=not me)
        limits = await spent.limits(identity, everyone=not me)
    if caller.as_json:
        print_json(
            {
                "by": by,
                "since": since,
                "until": until,
                "total": total.document(),
                "rows": [{"name": row.name, **row.document()} for row in rows],
                "limits": [each.document(settings.spending.currency) for each in limits],
            }
        )
        return
    _show(by, rows, total, limits, settings.spending.currency)
    progress_console().print(
        f"{since} to {until}, days in {settings.spending.time_zone}; the next begins {spent.day_ends_at():%H:%M}.",
        style="dim",
    )


def _show(by: str, rows: "list[SpentRow]", total: "SpentRow", limits: "list[LimitUse]", currency: str | None) -> None:
    from tools.settings.spending import plain

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
        line = f"Today's limit of the {each.scope}: {plain(each.used)} of {plain(each.limit)} {unit}."
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
