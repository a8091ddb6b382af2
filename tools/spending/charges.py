"""What was spent, stored exactly: a row for each run when it is asked, and one for each model when it ends."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from time import monotonic
from typing import Any, Literal
from uuid import uuid4

from psycopg.types.json import Jsonb

from graph.evidence import Identity, ModelUse
from graph.usage import charged_to
from tools.settings import SpendingSettings
from tools.settings.spending import plain
from tools.spending.accounts import LIMITED, DayTotals, Gate, Limited, Payer, RunAccount, Scope, Totals, rest_of_day
from tools.storage.database import TAKES_CHANGES, Database
from tools.storage.tenants import Workspaces

By = Literal["day", "model", "user", "session"]
BesideRuns = Literal["verification", "suggestion", "title"]
Study = Literal["comparison", "flashcards"]
MOST_ROWS = 1000
KEEP_DAYS = 730  # so that a year can be compared with the one before

# For the statement that opens a run: its row, from the CTEs with the run and its session.
RECORD_RUN = """
INSERT INTO spending (charge_id, model, kind, workspace, "user", session_id, key_id, address, day)
SELECT entered.run_id, '', 'run', asked.workspace, asked."user", asked.session_id, %(key_id)s, %(address)s, %(day)s
FROM entered, asked
"""
# For the statement that ends a run. What comes late, as of a title, adds to the model's row.
RECORD_USE = """
INSERT INTO spending (charge_id, model, kind, workspace, "user", session_id, key_id, address, day, calls,
                      estimated_calls, input_tokens, cached_tokens, output_tokens, cost, currency)
SELECT run.charge_id, used.model, run.kind, run.workspace, run."user", run.session_id, run.key_id, run.address, run.day,
       used.calls, used.estimated_calls, used.input_tokens, used.cached_tokens, used.output_tokens, used.cost,
       CASE WHEN used.cost IS NOT NULL THEN %(currency)s::text END
FROM spending AS run, jsonb_to_recordset(%(use)s::jsonb) AS used (
    model text, calls integer, estimated_calls integer, input_tokens bigint, cached_tokens bigint, output_tokens bigint,
    cost numeric
)
WHERE run.charge_id = %(run_id)s::uuid AND run.model = ''
ON CONFLICT (charge_id, model) DO UPDATE
SET calls = spending.calls + excluded.calls, estimated_calls = spending.estimated_calls + excluded.estimated_calls,
    input_tokens = spending.input_tokens + excluded.input_tokens,
    cached_tokens = spending.cached_tokens + excluded.cached_tokens,
    output_tokens = spending.output_tokens + excluded.output_tokens, cost = spending.cost + excluded.cost
"""
_RECORD = """
INSERT INTO spending (charge_id, model, kind, workspace, "user", key_id, address, day)
VALUES (%(run_id)s, '', %(kind)s, %(workspace)s, %(user)s, %(key_id)s, %(address)s, %(day)s)
"""
_IS_DELETED = "SELECT NOT EXISTS (SELECT 1 FROM runs WHERE run_id = %s)"
_IS_RUN = "kind IN ('run', 'comparison', 'flashcards')"
_DAY = f"""
SELECT count(*) FILTER (WHERE model = '' AND {_IS_RUN}), coalesce(sum(input_tokens + output_tokens), 0),
       coalesce(sum(cost) FILTER (WHERE currency = %(currency)s), 0)
FROM spending WHERE workspace = %(workspace)s AND day = %(day)s
"""
_OWN: Mapping[Scope, str] = {
    "workspace": "",
    "user": 'AND "user" = %(user)s',
    "key": 'AND "user" = %(user)s AND key_id = %(key_id)s',  # a key is one user's
    "address": "AND address = %(address)s",
}
_FORGET_ADDRESSES = f"""
UPDATE spending SET address = NULL WHERE address IS NOT NULL AND day < %(today)s AND {TAKES_CHANGES}
"""
_EXPIRE = f"DELETE FROM spending WHERE day < %(oldest)s AND {TAKES_CHANGES}"
_GROUPS: Mapping[By | None, str] = {
    "day": "day::text", "model": "model", "user": '"user"', "session": "session_id::text", None: "NULL::text",
}  # fmt: skip
_REPORT = """
SELECT {group} AS name, currency,
       count(*) FILTER (WHERE {is_run}), coalesce(sum(calls), 0), coalesce(sum(estimated_calls), 0),
       coalesce(sum(input_tokens), 0), coalesce(sum(cached_tokens), 0), coalesce(sum(output_tokens), 0), sum(cost),
       coalesce(sum(input_tokens + output_tokens) FILTER (WHERE cost IS NULL), 0),
       array_agg(DISTINCT model) FILTER (WHERE cost IS NULL AND model <> ''), max(created_at)
FROM spending
WHERE workspace = %(workspace)s AND day BETWEEN %(since)s AND %(until)s
  AND (%(user)s::text IS NULL OR "user" = %(user)s)
  AND (%(keys)s::text[] IS NULL OR key_id = ANY(%(keys)s)) AND {belongs}
GROUP BY 1, 2
"""


@dataclass(slots=True)
class SpentRow:
    """What was used of one day, model, user or session, or in all. ``costs`` are exact amounts by currency.

    ``unpriced`` are the models whose cost is not known, with ``unpriced_tokens`` in all.
    """

    name: str | None
    runs: int = 0
    calls: int = 0
    estimated_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    costs: dict[str, Decimal] = field(default_factory=dict)
    unpriced_tokens: int = 0
    unpriced: list[str] = field(default_factory=list)
    last_at: datetime | None = None

    def add(self, row: Any) -> None:
        """Add a group of one currency, or of none."""
        _, currency, runs, calls, estimated, inputs, cached, outputs, cost, unpriced_tokens, unpriced, last_at = row
        self.runs += runs
        self.calls += calls
        self.estimated_calls += estimated
        self.input_tokens += int(inputs)
        self.cached_tokens += int(cached)
        self.output_tokens += int(outputs)
        if currency is not None:
            self.costs[currency] = self.costs.get(currency, Decimal(0)) + cost
        self.unpriced_tokens += int(unpriced_tokens)
        self.unpriced = sorted({*self.unpriced, *(unpriced or ())})
        self.last_at = last_at if self.last_at is None else max(self.last_at, last_at)

    @property
    def amounts(self) -> list[tuple[str, str]]:
        """The costs as plain decimal numbers, each with its currency."""
        return [(plain(amount), currency) for currency, amount in sorted(self.costs.items())]

    def document(self) -> dict[str, Any]:
        """Return what was used, as programs are told of it."""
        return {
            "runs": self.runs,
            "calls": self.calls,
            "estimated_calls": self.estimated_calls,
            "input_tokens": self.input_tokens,
            "cached_input_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "costs": [{"amount": amount, "currency": currency} for amount, currency in self.amounts],
            "unpriced": self.unpriced,
            "unpriced_tokens": self.unpriced_tokens,
        }


@dataclass(frozen=True, slots=True)
class LimitUse:
    """A limit of the day, and what counts for it so far."""

    scope: Scope
    what: Limited
    limit: int | Decimal
    used: int | Decimal

    def document(self, currency: str | None) -> dict[str, Any]:
        """Return the limit as programs are told of it; ``currency`` is that of the deployment."""
        return {
            "of": self.scope,
            "what": self.what,
            "limit": plain(self.limit),
            "used": plain(self.used),
            "currency": currency if self.what == "cost" else None,
        }


class Spending:
    """What is spent in a deployment, and the limits on it."""

    def __init__(self, database: Database, workspaces: Workspaces, settings: SpendingSettings | None = None) -> None:
        self._database = database
        self._workspaces = workspaces
        self.settings = settings or SpendingSettings()
        self.gate = Gate(self.settings, self._read_day)

    async def open(self, identity: Identity, *, checked: bool = True) -> RunAccount:
        """Open the account of a run that this task starts; without ``checked`` whatever the limits say.

        Raises SpendingLimitReached, NotFound, DatabaseUnavailable.
        """
        return await self.gate.open(self._payer(identity), checked=checked)

    def _payer(self, identity: Identity) -> Payer:
        payer = Payer.of(identity)
        if self.settings.limits_of(identity.workspace).address.model_dump(exclude_none=True):
            return payer
        return Payer(identity, replace(payer.origin, address=None))  # an address is not kept for nothing

    def run_fields(self, account: RunAccount | None) -> dict[str, Any]:
        """Return the parameters of ``RECORD_RUN``; without an account, those of a run by no key and no address."""
        if account is None:
            return {"key_id": None, "address": None, "day": self.gate.today()}
        return {**asdict(account.payer.origin), "day": account.day}

    def use_fields(self, use: Mapping[str, ModelUse]) -> dict[str, Any]:
        """Return the parameters of ``RECORD_USE``, but for the run's id."""
        rows = []
        for model, each in use.items():
            cost = self.settings.cost(model, each)
            rows.append({"model": model, **each, "cost": None if cost is None else str(cost)})
        return {"use": Jsonb(rows), "currency": self.settings.currency}

    async def record_late(self, run_id: str, account: RunAccount, *, if_deleted: bool = False) -> None:
        """Store what a run used and its end did not store, as of a title that came late.

        Also what a step used that was cut off as the process stopped, or as its session was deleted.

        With ``if_deleted`` only where the run is deleted; another process accounts for one that it took over.
        """
        if not (use := account.unstored()):
            return
        async with self._database.connection() as connection:
            if if_deleted:
                row = await (await connection.execute(_IS_DELETED, [run_id])).fetchone()
                if row is None or not row[0]:
                    return
            await connection.execute(RECORD_USE, {"run_id": run_id, **self.use_fields(use)})
        account.settle(use)

    @asynccontextmanager
    async def beside_runs(self, identity: Identity, kind: BesideRuns) -> AsyncIterator[None]:
        """Charge what work of an identity beside its runs uses.

        It is never refused: where a limit is reached, no model is asked.
        """
        account = await self.open(identity, checked=False)
        try:
            await account.refresh()
            with charged_to(account):
                yield
        finally:
            try:
                if use := account.unstored():
                    await self._record(account, kind, use)
            finally:
                account.close()

    @asynccontextmanager
    async def as_run(self, identity: Identity, kind: Study, *, asks_models: bool) -> AsyncIterator[None]:
        """Count work of an identity as one of the day's runs as it begins, and charge what it uses.

        What asks no models to write or to judge is refused for a limit of runs alone. Raises
        SpendingLimitReached, NotFound, DatabaseUnavailable.
        """
        account = await self.gate.open(self._payer(identity), asks_models=asks_models)
        try:
            charge_id = await self._record(account, kind)
            try:
                with charged_to(account):
                    yield
            finally:
                await self.record_late(charge_id, account)
                if account.settled_at is None:
                    account.settle({})
        finally:
            account.close()

    async def _record(
        self, account: RunAccount, kind: BesideRuns | Study, use: Mapping[str, ModelUse] | None = None
    ) -> str:
        """Store that there is work of a kind, and what it used if that is known; return the id of its rows."""
        identity = account.payer.identity
        charge_id = str(uuid4())
        row = {
            "run_id": charge_id,
            "kind": kind,
            "workspace": await self._workspaces.number(identity.workspace),
            "user": identity.user,
            **self.run_fields(account),
        }
        async with self._database.connection() as connection, connection.transaction():
            await connection.execute(_RECORD, row)
            if use:
                await connection.execute(RECORD_USE, {**row, **self.use_fields(use)})
        account.recorded_at = monotonic()
        if use:
            account.settle(use)
        return charge_id

    async def report(
        self,
        identity: Identity,
        by: By | None,
        *,
        since: date,
        until: date,
        everyone: bool = False,
        keys: Sequence[str] | None = None,
    ) -> list[SpentRow]:
        """Return what an identity, or ``everyone`` in its workspace, used from one day to another, both included.

        ``keys`` are the ids of the only API keys whose use counts. Days come newest first, sessions in the order of
        their last run, the others by tokens; at most 1000 rows. The runs of a model are those that used it. With
        ``by`` None there is one row, of all together.
        """
        belongs = {"model": "model <> ''", "session": "session_id IS NOT NULL"}.get(by or "", "true")
        is_run = _IS_RUN if by == "model" else f"model = '' AND {_IS_RUN}"
        query = _REPORT.format(group=_GROUPS[by], is_run=is_run, belongs=belongs)
        values = {
            "workspace": await self._workspaces.number(identity.workspace),
            "user": None if everyone else identity.user,
            "keys": keys,
            "since": since,
            "until": until,
        }
        found = await self._database.fetch_all(query.encode(), values)
        rows: dict[str | None, SpentRow] = {} if by else {None: SpentRow(None)}
        for each in found:
            rows.setdefault(each[0], SpentRow(each[0])).add(each)
        return sorted(rows.values(), key=lambda row: _order(row, by), reverse=True)[:MOST_ROWS]

    async def limits(self, identity: Identity, *, everyone: bool = False) -> list[LimitUse]:
        """Return the limits of today that hold for whom this task acts for, with what was used of them.

        Without ``everyone`` those of the whole workspace are left out.
        """
        payer = self._payer(identity)
        limited = {scope: each for scope, each in self.gate.limits(payer).items() if everyone or scope != "workspace"}
        totals = await self._read_day(payer, self.gate.today(), list(limited)) if limited else {}
        return [
            LimitUse(scope, what, limit, getattr(totals[scope], what))
            for scope, limits in limited.items()
            for what in LIMITED
            if (limit := getattr(limits, what)) is not None
        ]

    def day_ends_at(self) -> datetime:
        return rest_of_day(self.settings.zone)[0]

    async def expire(self) -> int:
        """Delete what is older than ``KEEP_DAYS``, and the addresses of days that are over; return how many rows."""
        today = self.gate.today()
        oldest = date.fromordinal(today.toordinal() - KEEP_DAYS)
        async with self._database.connection() as connection:
            await connection.execute(_FORGET_ADDRESSES, {"today": today})
            return (await connection.execute(_EXPIRE, {"oldest": oldest})).rowcount

    async def _read_day(self, payer: Payer, day: date, scopes: Sequence[Scope]) -> DayTotals:
        query = " UNION ALL ".join(f"{_DAY} {_OWN[scope]}" for scope in scopes)
        values = {
            "workspace": await self._workspaces.number(payer.identity.workspace),
            "day": day,
            "user": payer.identity.user,
            **asdict(payer.origin),
            "currency": self.settings.currency,
        }
        rows = await self._database.fetch_all(query.encode(), values)
        return {scope: Totals(row[0], int(row[1]), row[2]) for scope, row in zip(scopes, rows, strict=True)}


def _order(row: SpentRow, by: By | None) -> Any:
    if by == "day":
        return row.name or ""
    if by == "session":
        return row.last_at
    return (row.input_tokens + row.output_tokens, row.runs, row.name or "")
