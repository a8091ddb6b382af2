"""Accounts of runs and verifications, and the limits of a day that hold over all processes.

What ended is in PostgreSQL; what is in progress is known to its own process alone. A run is refused where both together
have reached a limit. Between two steps it reads again what others have spent, at most every ``REFRESH_SECONDS``, and
asks no more models once a limit is reached. So a limit is exceeded at most by what is in progress at that moment: in
this process one call for each run, in others what their unfinished runs have used, and those that ended since the last
reading.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from time import monotonic
from typing import Literal, get_args

from graph.errors import SpendingLimitReached
from graph.evidence import Identity, ModelUse, add_use
from text.counted import counted
from tools.settings import DailyLimits, SpendingSettings
from tools.settings.spending import plain

REFRESH_SECONDS = 2.0
REFRESH_SHARE = 20  # the sum of a large workspace takes long: it is read at most this many times its own time apart

Scope = Literal["workspace", "user", "key", "address"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
Limited = Literal["runs", "tokens", "cost"]
LIMITED: tuple[Limited, ...] = get_args(Limited)
WHOSE: Mapping[Scope, str] = {
    "workspace": "The workspace",
    "user": "You",
    "key": "This API key",
    "address": "This address",
}


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """How a request came in: the id of its API key, and the address of its client; None where there is none."""

    key_id: str | None = None
    address: str | None = None


_ORIGIN: ContextVar[RequestOrigin] = ContextVar("_ORIGIN", default=RequestOrigin())  # noqa: B039 - it is frozen


@contextmanager
def coming_from(origin: RequestOrigin) -> Iterator[None]:
    """Charge what this task starts to the key and the address that its request came from."""
    token = _ORIGIN.set(origin)
    try:
        yield
    finally:
        _ORIGIN.reset(token)


@dataclass(frozen=True, slots=True)
class Payer:
    """Whom a run is charged to."""

    identity: Identity
    origin: RequestOrigin = RequestOrigin()

    @classmethod
    def of(cls, identity: Identity) -> "Payer":
        """Return whom to charge for what this task starts for an identity."""
        return cls(identity, _ORIGIN.get())

    def name(self, scope: Scope) -> str | None:
        """Return what a scope's limit counts for: the payer's workspace, user, key or address."""
        return {
            "workspace": self.identity.workspace,
            "user": self.identity.user,
            "key": self.origin.key_id,
            "address": self.origin.address,
        }[scope]

    def shares(self, scope: Scope, other: "Payer") -> bool:
        """Whether what another payer spends counts for the same limit."""
        same_workspace = self.identity.workspace == other.identity.workspace
        return same_workspace and self.name(scope) is not None and self.name(scope) == other.name(scope)


@dataclass(frozen=True, slots=True)
class Totals:
    """What was used: runs, tokens, and their cost as far as it is known."""

    runs: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(self.runs + other.runs, self.tokens + other.tokens, self.cost + other.cost)


@dataclass(frozen=True, slots=True)
class Reached:
    """A limit that is used up."""

    scope: Scope
    what: Limited
    limit: int | Decimal


DayTotals = Mapping[Scope, Totals]
ReadDay = Callable[[Payer, date, Sequence[Scope]], Awaitable[DayTotals]]  # what was stored, by scope


@dataclass(frozen=True, slots=True)
class Seen:
    """What was stored of a day when it was read, on the clock of ``time.monotonic``."""

    totals: Totals
    read_at: float


class Gate:
    """The limits of a day in this process: what they are, and the accounts whose use is not stored yet."""

    def __init__(self, settings: SpendingSettings, read: ReadDay) -> None:
        self.settings = settings
        self._read = read
        self._open: set[RunAccount] = set()
        self._settled: list[RunAccount] = []
        self._of_workspaces: dict[tuple[str, date], tuple[Seen, float]] = {}  # with the time until which they will do

    def today(self) -> date:
        return datetime.now(self.settings.zone).date()

    def limits(self, payer: Payer) -> dict[Scope, DailyLimits]:
        found = self.settings.limits_of(payer.identity.workspace)
        limits: dict[Scope, DailyLimits] = {scope: getattr(found, scope) for scope in SCOPES}
        return {
            scope: each
            for scope, each in limits.items()
            if payer.name(scope) is not None and each.model_dump(exclude_none=True)
        }

    async def open(self, payer: Payer, *, checked: bool = True, asks_models: bool = True) -> "RunAccount":
        """Open the account of a run, with ``checked`` only where no limit is reached.

        What asks no models to write or to judge is refused for a limit of runs alone.

        Raises SpendingLimitReached, DatabaseUnavailable.
        """
        account = RunAccount(self, payer, self.today(), self.limits(payer))
        self._open.add(account)
        try:
            if checked:
                await account.refresh()
                if (reached := self.reached(account, before_run=True, asks_models=asks_models)) is not None:
                    raise limit_error(reached, self.settings)
        except BaseException:
            self.close(account)
            raise
        account.admitted = True
        return account

    async def read(self, account: "RunAccount") -> dict[Scope, Seen]:
        """Read what was stored of an account's day; the sum of a workspace is shared by all that need it."""
        now = monotonic()
        self._of_workspaces = {key: each for key, each in self._of_workspaces.items() if each[1] > now}
        key = (account.payer.identity.workspace, account.day)
        shared = self._of_workspaces.get(key)
        scopes = [scope for scope in account.limits if scope != "workspace" or shared is None]
        found = await self._read(account.payer, account.day, scopes) if scopes else {}
        seen = {scope: Seen(totals, now) for scope, totals in found.items()}
        if shared is not None:
            seen["workspace"] = shared[0]
        elif "workspace" in seen:
            took = monotonic() - now
            self._of_workspaces[key] = seen["workspace"], now + max(REFRESH_SECONDS, REFRESH_SHARE * took)
        return seen

    def close(self, account: "RunAccount") -> None:
        self._open.discard(account)
        if account.settled_at is not None:
            self._settled.append(account)
        readings = [each.read_at for each in self._open if each.limits]
        readings += [seen.read_at for seen, _ in self._of_workspaces.values()]
        oldest = min(readings, default=monotonic())
        self._settled = [each for each in self._settled if (each.settled_at or 0) >= oldest]

    def reached(self, account: "RunAccount", *, before_run: bool = False, asks_models: bool = True) -> Reached | None:
        """Return the first limit that is reached: of runs only before one more, of others where models are asked."""
        for scope, limits in account.limits.items():
            seen = account.seen.get(scope)
            if seen is None:
                continue
            total = seen.totals
            for other in (*self._open, *self._settled):
                if other.payer.shares(scope, account.payer) and other.day == account.day:
                    total += other.unseen_since(seen.read_at)
            for what in LIMITED:
                if not (before_run if what == "runs" else asks_models):
                    continue
                limit = getattr(limits, what)
                if limit is not None and getattr(total, what) >= limit:
                    return Reached(scope, what, limit)
        return None


@dataclass(slots=True, eq=False)
class RunAccount:
    """What one run has used; see ``graph.usage.Account``. ``used`` has its embeddings too, ``embedded`` only those."""

    gate: Gate
    payer: Payer
    day: date
    limits: Mapping[Scope, DailyLimits]
    used: dict[str, ModelUse] = field(default_factory=dict)
    embedded: dict[str, ModelUse] = field(default_factory=dict)
    stored: dict[str, ModelUse] = field(default_factory=dict)  # of what was used
    seen: Mapping[Scope, Seen] = field(default_factory=dict)
    read_at: float = 0.0  # of the oldest of them
    admitted: bool = False
    recorded_at: float | None = None  # when the run was stored, and so counts for everybody
    settled_at: float | None = None  # when what it used was stored
    restored: bool = False

    async def refresh(self) -> None:
        """Read what was stored of the day, unless that was done a moment ago or there is no limit."""
        now = monotonic()
        if self.limits and (not self.read_at or now - self.read_at >= REFRESH_SECONDS):
            self.read_at = self.read_at or now  # from the first read on, what ends meanwhile is kept for it
            self.seen = await self.gate.read(self)
            self.read_at = min(each.read_at for each in self.seen.values())

    def may_call(self) -> bool:
        """Whether the limits of the day leave room for another call."""
        return not self.limits or self.gate.reached(self) is None

    def charge(self, model: str, use: ModelUse, *, embedding: bool = False) -> None:
        add_use(self.used, model, use)
        if embedding:
            add_use(self.embedded, model, use)

    def restore(self, models: Mapping[str, ModelUse]) -> None:
        """Charge what another process used for the run before this one took it over; counted once."""
        if not self.restored:
            self.restored = True
            _add_all(self.used, models)

    def unseen_since(self, read_at: float) -> Totals:
        """Return what a reader at that time could not read of this account."""
        runs = int(self.admitted and (self.recorded_at is None or self.recorded_at >= read_at))
        if self.settled_at is not None and self.settled_at < read_at:
            return Totals(runs)
        tokens = sum(use["input_tokens"] + use["output_tokens"] for use in self.used.values())
        costs = (self.gate.settings.cost(model, use) for model, use in self.used.items())
        return Totals(runs, tokens, sum((cost for cost in costs if cost is not None), Decimal(0)))

    def unstored(self) -> dict[str, ModelUse]:
        """Return what was used and is not stored."""
        return {model: rest for model, use in self.used.items() if (rest := _less(use, self.stored.get(model)))}

    def leave(self, kept: Mapping[str, ModelUse]) -> None:
        """Leave to the process that goes on with the run what it ``kept``, which that one restores."""
        _add_all(self.stored, kept)

    def settle(self, stored: Mapping[str, ModelUse]) -> None:
        """Note that this use was stored."""
        _add_all(self.stored, stored)
        self.settled_at = monotonic()

    def close(self) -> None:
        self.gate.close(self)


def _add_all(total: dict[str, ModelUse], models: Mapping[str, ModelUse]) -> None:
    for model, use in models.items():
        add_use(total, model, use)


def _less(use: ModelUse, stored: ModelUse | None) -> ModelUse | None:
    """Return what is left of a use without what was stored of it; None for nothing."""
    if stored is None:
        return use
    rest = ModelUse(
        calls=use["calls"] - stored["calls"],
        input_tokens=use["input_tokens"] - stored["input_tokens"],
        cached_tokens=use["cached_tokens"] - stored["cached_tokens"],
        output_tokens=use["output_tokens"] - stored["output_tokens"],
        estimated_calls=use["estimated_calls"] - stored["estimated_calls"],
    )
    return rest if any(rest.values()) else None


def rest_of_day(zone: tzinfo) -> tuple[datetime, int]:
    """Return when today ends in a time zone, and the seconds until then, rounded up."""
    now = datetime.now(zone)
    end = datetime.combine(now.date() + timedelta(days=1), time.min, zone)
    return end, int((end.astimezone(UTC) - now.astimezone(UTC)).total_seconds()) + 1


def limit_error(reached: Reached, settings: SpendingSettings) -> SpendingLimitReached:
    """Return the error for a limit that is used up, with when it is free again."""
    end, seconds = rest_of_day(settings.zone)
    limit = {
        "runs": counted(int(reached.limit), "question"),
        "tokens": f"{reached.limit:,} tokens of models",
        "cost": f"{plain(reached.limit)} {settings.currency} for models",
    }[reached.what]
    verb = "have" if reached.scope == "user" else "has"
    return SpendingLimitReached(
        f"{WHOSE[reached.scope]} {verb} used up today's limit of {limit}. "
        f"The next day begins at {end:%Y-%m-%d %H:%M} {settings.time_zone}, in {_in_words(seconds)}.",
        retry_after=seconds,
    )


def _in_words(seconds: int) -> str:
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    return " and ".join(counted(count, word) for count, word in ((hours, "hour"), (minutes, "minute")) if count)
