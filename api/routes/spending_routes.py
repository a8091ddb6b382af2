"""What was spent: your own use, or for whoever may see it that of the whole workspace, with the limits of today."""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from api.dependencies import Asking, needs
from api.fields import Body
from api.problems import problems
from graph.errors import InvalidRequest, NotPermitted
from tools.auth.api_keys import ApiKeys
from tools.spending.accounts import Scope
from tools.spending.charges import By

router = APIRouter(tags=["spending"])
DAYS = 30  # by default
MOST_DAYS = 3660

Day = Annotated[date, Field(ge=date(2000, 1, 1), le=date(9000, 1, 1))]


class Amount(Body):
    """An exact decimal number of a currency (ISO 4217)."""

    amount: str
    currency: str


class Use(Body):
    """What was used. Of the models in `unpriced` no price is known, so `costs` are without their `unpriced_tokens`.

    `estimated_calls` are those whose endpoint reported no tokens. `costs` has several currencies only where the
    deployment changed its own.
    """

    runs: int
    calls: int
    estimated_calls: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    costs: list[Amount]
    unpriced: list[str]
    unpriced_tokens: int


class UseOf(Use):
    """What was used of one day, model, user or session, which is its `name`; null where it belongs to none."""

    name: str | None


class DayLimit(Body):
    """A limit of the day, and what counts for it so far; amounts of money are decimal numbers."""

    of: Scope
    what: Literal["runs", "tokens", "cost"]
    limit: str
    used: str
    currency: str | None


class SpendingReport(Body):
    """What was used from `since` to `until`, both included, by day, model, user or session."""

    of: Literal["me", "everyone"]
    by: By
    since: date
    until: date
    total: Use
    rows: list[UseOf]
    limits: list[DayLimit]
    day_ends_at: datetime


@router.get("/api/spending", responses=problems(422, 503))
@needs("ask", lists=True)
async def read_spending(
    asker: Asking,
    by: Annotated[By, Query(description="What to add up by.")] = "day",
    of: Annotated[Literal["me", "everyone"], Query(description="Your own use, or that of the whole workspace.")] = "me",
    since: Annotated[Day | None, Query(description="The first day; by default 29 days before the last.")] = None,
    until: Annotated[Day | None, Query(description="The last day; by default today.")] = None,
) -> SpendingReport:
    """Return what was spent on models, and what is left of today's limits.

    Days are those of the deployment's time zone. At most 1000 rows. For credentials that are restricted to some spaces,
    everyone is whoever uses a key of these.
    """
    everyone = of == "everyone"
    if everyone and "admin" not in asker.grant.rights_in(asker.me.workspace).scopes:
        raise NotPermitted(
            "of: what everyone spends needs the scope admin; these credentials show your own use alone.",
            suggestion="Leave `of` out, or use a key of `citewell keys create --scope ask,admin`.",
        )
    last = until or asker.library.spending.gate.today()
    first = since or last - timedelta(days=DAYS - 1)
    if not 0 <= (last - first).days <= MOST_DAYS:
        raise InvalidRequest(f"since: it has to be at most {MOST_DAYS} days before until.")
    spending, keys = asker.library.spending, None
    if everyone and asker.me.spaces is not None:
        within = await ApiKeys(asker.library.database, asker.library.workspaces).list(
            asker.me.workspace, within=asker.me.spaces
        )
        keys = [key.key_id for key in within]
    rows = await spending.report(asker.me, by, since=first, until=last, everyone=everyone, keys=keys)
    [total] = await spending.report(asker.me, None, since=first, until=last, everyone=everyone, keys=keys)
    currency = asker.settings.spending.currency
    held = await spending.limits(asker.me, everyone=everyone and keys is None)
    limits = [DayLimit(**each.document(currency)) for each in held]
    return SpendingReport(
        of=of,
        by=by,
        since=first,
        until=last,
        total=Use(**total.document()),
        rows=[UseOf(name=row.name, **row.document()) for row in rows],
        limits=limits,
        day_ends_at=spending.day_ends_at().astimezone(UTC),
    )
