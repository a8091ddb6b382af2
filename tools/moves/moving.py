"""Move a workspace to another database while it is in use. docs/adr/0034 says why it goes like this.

The row of the workspace in ``workspace_moves`` says how far a move is, in both databases. Until the workspace is sealed
it is the source's, and until it is closed the source serves it as ever; what is closed opens again by itself after some
seconds. Once it is sealed, the source never takes a change of it again, and only then does the target open. So both
never do, wherever the process that moves it ends; run again, it goes on with what is there.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import conninfo, sql

from graph.errors import (
    DatabaseBusy,
    DatabaseUnavailable,
    DependencyFailed,
    EmbeddingMismatch,
    InvalidRequest,
    NotFound,
    SessionBusy,
)
from text.counted import counted
from tools.concurrency.tasks import shield_until_done
from tools.moves.moved_tables import FOLLOWS, Key, MovedTable, Side, in_parts, make_alike, moved_tables
from tools.originals.stores import POSTGRESQL, OriginalKey, OriginalStore
from tools.retrieval.indexing import maintain
from tools.retrieval.placing import give_own_tables, only_mover, share_tables_again
from tools.runs.log_days import add_days
from tools.storage.database import CONNECTING, Connection, database_errors, elsewhere, only_one, value_of
from tools.storage.index_changes import queue_all
from tools.storage.partitions import Place, find_place, lock_library, open_part
from tools.storage.tenants import UnknownWorkspace, delete_workspace, insert_workspaces

GATE, MOVERS = 1836021349, 1836021350  # advisory locks: of migrations/versions/sql/0025, and of a move
SMALL_ROWS = 500  # of a pass, behind which the workspace is closed
MOST_PASSES = 8
QUICK_SECONDS = 1.0  # of a pass that hashed every row, which the last one then does again
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class MoveLimits:
    """How many seconds to wait for runs to end, and how many the workspace may take no changes.

    ``lock`` is how long a statement waits for a lock of somebody else.
    """

    runs: float = 60.0
    closed: float = 30.0
    lock: float = 10.0


@dataclass(frozen=True, slots=True)
class OutsideOriginals:
    """The stores of originals outside of PostgreSQL: of the source, and of the target, whose place is its address."""

    place: str
    source: OriginalStore
    target: OriginalStore
    target_place: str


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass over all tables: how many rows it wrote to the target, and how long it took."""

    rows: int
    seconds: float


@dataclass(slots=True)
class Report:
    """What a move did. The seconds are those in which new questions, or all changes, were refused."""

    workspace: str
    other: str
    passes: list[Pass] = field(default_factory=list)
    questions_refused_seconds: float = 0.0
    changes_refused_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What would move: rows by table, and the originals that are outside of PostgreSQL."""

    workspace: str
    other: str
    rows: dict[str, int]
    outside_originals: int


@dataclass(frozen=True, slots=True)
class _Mark:
    """What, where it changes, changes segments or vectors without their documents."""

    embedding: str | None
    terms_version: int


OnProgress = Callable[[str], None]


def redacted_address(url: str) -> str:
    """Return a database's address without user and password. Raises InvalidRequest."""
    try:
        named = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise InvalidRequest(
            "--to: the address can't be read.", suggestion="Write it as postgresql://user:password@host:port/database."
        ) from None
    return f"{named.get('host', 'localhost')}:{named.get('port', 5432)}/{named.get('dbname', '')}"


class WorkspaceMove:
    """A move of one workspace, over connections of its own: ``reader`` reads snapshots of the source."""

    def __init__(
        self,
        source: Connection,
        reader: Connection,
        target: Connection,
        tables: list[MovedTable],
        report: Report,
        number: int,
        *,
        from_address: str,
        limits: MoveLimits,
        originals: OutsideOriginals | None,
        on_progress: OnProgress,
    ) -> None:
        self._source, self._reader, self._target = source, reader, target
        self._tables = tables
        self._report = report
        self._number = number
        self._from = from_address
        self._limits = limits
        self._originals = originals
        self._on_progress = on_progress
        self._move_id = self._state = ""
        self._there = 0
        self._carried: set[str] = set()

    async def plan(self) -> Plan:
        """Return what would move. Nothing is changed."""
        side = Side(self._source, await self._place_here(self._source))
        rows = Counter[str]()
        for table in in_parts(self._tables, side.place):
            rows[table.name] += await side.count(table)
        outside = await value_of(self._source, _COUNT_OUTSIDE, [self._number])
        return Plan(self._report.workspace, self._report.other, {n: c for n, c in rows.items() if c}, int(outside))

    async def run(self) -> Report:
        """Move the workspace, or go on with a move that was cut short.

        Raises SessionBusy where questions are still being answered, DatabaseBusy where the last rows did not get across
        in time, DependencyFailed where what came across differs. The source serves the workspace then as before.
        """
        is_open = await self._begin()
        if self._state == "sealed":
            if not is_open:
                # Whether all was across when it was sealed, only the process knew that did it.
                await self._pass("compared", whole=True, compare=True)
            await self._finish()
            return self._report
        mark = await self._copy_in_use()
        began = time.monotonic()
        try:
            closed = await self._close(mark)
        except BaseException:
            await shield_until_done(self._reopen())
            raise
        await self._finish()
        self._report.changes_refused_seconds = time.monotonic() - closed
        self._report.questions_refused_seconds = time.monotonic() - began
        return self._report

    async def _begin(self) -> bool:
        """Note the move in both databases; return whether the target is open already."""
        name, other = self._report.workspace, self._report.other
        await _refuse_other_models(self._source, self._target, other)
        arrived = await (await self._target.execute(_ARRIVED, [name])).fetchone()
        row = await (await self._source.execute(_STATE, [self._number])).fetchone()
        if row is not None and row[1] in ("moved", "arriving", "dropped"):
            raise elsewhere(name, is_moved=row[1] == "moved")
        if row is not None and row[1] != "arrived" and row[2] != other:
            raise InvalidRequest(
                f"{name!r} is half-way to {row[2]}.", suggestion=f"Go on there, or give it up: --to {row[2]} --abandon."
            )
        if arrived is not None and (row is None or arrived[1] != row[0] or arrived[2] == "dropped"):
            raise InvalidRequest(
                f"There is a workspace named {name!r} in {other} already.",
                suggestion="Delete it there if it is what another move left, or name the other database.",
            )
        if row is not None and row[1] == "sealed" and arrived is None:
            raise NotFound(f"What was moved of {name!r} is not in {other}.", suggestion="Restore it, or --abandon.")
        if arrived is not None and row is not None and arrived[2] == "arrived" and row[1] != "sealed":
            raise InvalidRequest(f"{name!r} is open in {other} and here.", suggestion="Was one restored from a backup?")
        await self._refuse_lost_originals(self._source)
        place = await self._place_here(self._source)
        if row is None or row[1] == "arrived":
            row = await (await self._source.execute(_BEGIN, [self._number, other])).fetchone()
        assert row is not None
        self._move_id, self._state = row[0], row[1]
        self._there = arrived[0] if arrived is not None else await self._create(place)
        return arrived is not None and arrived[2] == "arrived"

    async def _create(self, place: Place) -> int:
        created = await value_of(self._source, "SELECT created_at FROM workspaces WHERE number = %s", [self._number])
        await add_days(self._target)
        async with self._target.transaction():
            [number] = await insert_workspaces(self._target, [self._report.workspace], own_tables=place.own)
            await self._target.execute("UPDATE workspaces SET created_at = %s WHERE number = %s", [created, number])
            await self._target.execute(_ARRIVE, [number, self._move_id, self._from])
        return number

    async def _copy_in_use(self) -> _Mark:
        """Copy all rows while they are read and written, until a pass is small."""
        mark = await self._pass("copied", whole=True)
        for table in self._tables:
            if table.name not in ("segments", "segment_vectors"):
                await self._target.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(table.name)))
        await maintain(self._target, self._there)  # which builds the index of vectors
        mark = await self._pass("compared", whole=True)
        while self._report.passes[-1].rows > SMALL_ROWS and len(self._report.passes) < MOST_PASSES:
            now = await self._pass("followed", whole=False)
            mark = mark if now == mark else await self._pass("compared", whole=True)
        return mark

    async def _same_tables(self, here: Place) -> Place:
        """Give the workspace tables in the target as it has here: shared ones, or as many parts of its own.

        Parts keep their numbers; the target's own bound is for what it stores later.
        """
        there = await self._place_there()
        if here.own != there.own:
            await (give_own_tables if here.own else share_tables_again)(self._target, self._there)
            there = await self._place_there()
        if there.parts > here.parts:
            raise InvalidRequest(
                f"{self._report.workspace!r} is in {there.parts} parts in {self._report.other}, and in fewer here: it "
                "was moved between tables since.",
                suggestion=f"Give the move up, and begin again: --to {self._report.other} --abandon.",
            )
        if there.parts < here.parts:
            async with self._target.transaction():
                there = await lock_library(self._target, self._there)
                while there.parts < here.parts:
                    there = await open_part(self._target, there)
        return there

    async def _place_here(self, conn: Connection) -> Place:
        return await _place(conn, self._number, f"The workspace {self._report.workspace!r} was deleted.")

    async def _place_there(self) -> Place:
        lost = f"What was moved of {self._report.workspace!r} was deleted in {self._report.other}."
        return await _place(self._target, self._there, lost)

    async def _close(self, mark: _Mark) -> float:
        """Refuse questions, then all changes; copy what is left, compare, and seal the source. Returns since when."""
        since = time.monotonic()
        await self._set_state("draining", self._limits.runs + self._limits.closed)
        self._on_progress("New questions wait; those that are being answered end.")
        while running := await value_of(self._source, _RUNNING, [self._number]):
            if time.monotonic() - since > self._limits.runs:
                raise SessionBusy(
                    f"{counted(running, 'question')} still being answered after {self._limits.runs:g} seconds; "
                    "the workspace goes on here.",
                    suggestion="Run it again, or with a longer --wait.",
                )
            await asyncio.sleep(POLL_SECONDS)
        closed = time.monotonic()
        await self._set_state("closed", self._limits.closed)
        try:
            async with asyncio.timeout(self._limits.closed):
                # All that were let pass have ended then, and later ones are refused.
                await self._source.execute("SELECT pg_advisory_xact_lock(%s, %s)", [GATE, self._number])
                # Whoever still writes under an earlier attempt of an abandoned run stops, as if it were taken over.
                await self._source.execute(_ABANDON_RUNS, [self._number])
                quick = self._report.passes[1].seconds < QUICK_SECONDS
                now = await self._pass("copied last", whole=quick, compare=True)
                if now != mark:
                    await self._pass("copied last", whole=True, compare=True)
        except TimeoutError:
            raise DatabaseBusy(
                f"The last rows did not get across within {self._limits.closed:g} seconds; the workspace goes on here.",
                suggestion="Run it again when less is written, or with a longer --closed.",
            ) from None
        await _refuse_other_models(self._source, self._target, self._report.other)
        await self._seal()
        return closed

    async def _seal(self) -> None:
        """Make the source refuse for good. It was closed all the time until then, or is open again and stays so."""
        sealed = await (await self._source.execute(_SEAL, [self._move_id])).fetchone()
        # As told once the seal is committed: a change that came after the end of the time, and before it, was let pass.
        if sealed is None or await value_of(self._source, "SELECT clock_timestamp() > %s", [sealed[0]]):
            await self._source.execute(_UNSEAL, [self._move_id])
            raise DatabaseBusy(
                f"The workspace was closed for {self._limits.closed:g} seconds, which was too short; it goes on here.",
                suggestion="Run it again with a longer --closed.",
            )
        self._state = "sealed"

    async def _reopen(self) -> None:
        if self._state != "sealed" and not self._source.closed:
            await self._source.execute(_REOPEN, [self._move_id])

    async def _finish(self) -> None:
        """Open the target, whose source is sealed, and note where it went."""
        async with self._target.transaction():
            await queue_all(self._target, self._there)
            opened = await self._target.execute(_OPEN, [self._there, self._move_id])
            if opened.rowcount != 1:
                raise NotFound(
                    f"What was moved of {self._report.workspace!r} was deleted in {self._report.other}.",
                    suggestion="Give the move up with --abandon; the workspace is whole here.",
                )
        await self._source.execute(_MOVED, [self._move_id])
        self._on_progress(f"{self._report.workspace} is open in {self._report.other}.")

    async def _set_state(self, state: str, seconds: float) -> None:
        changed = await self._source.execute(_SET_STATE, [state, seconds, self._move_id])
        if changed.rowcount != 1:
            raise InvalidRequest("The move was given up meanwhile.")

    async def _pass(self, what: str, *, whole: bool, compare: bool = False) -> _Mark:
        """Make the target alike to a snapshot of the source; ``compare`` both afterwards."""
        began, rows = time.monotonic(), 0
        changed: dict[str, set[Key]] = {}
        async with self._reader.transaction():
            await self._reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            originals = self._originals.target_place if self._originals else POSTGRESQL
            source = Side(self._reader, await self._place_here(self._reader), originals)
            target = Side(self._target, await self._same_tables(source.place))
            mark = await self._mark()
            changed["sessions"] = {(row[0],) for row in await self._rows(_UNFINISHED)}
            for table in in_parts(self._tables, source.place):
                of_parent = changed.get(FOLLOWS[table.name][0], set()) if table.name in FOLLOWS else set()
                written, keys = await make_alike(source, target, table, whole=whole, changed=of_parent)
                changed.setdefault(table.name, set()).update(keys)
                rows += written
                if compare:
                    await self._compare(source, target, table, whole=whole, keys=of_parent)
            await self._carry_originals()
            await self._raise_sequences()
        done = Pass(rows, time.monotonic() - began)
        self._report.passes.append(done)
        self._on_progress(f"Pass {len(self._report.passes)}: {what} {rows:,} rows in {done.seconds:.1f} s.")
        return mark

    async def _compare(self, source: Side, target: Side, table: MovedTable, *, whole: bool, keys: set[Key]) -> None:
        alike = await source.digests(table, whole=whole) == await target.digests(table, whole=whole)
        if alike and keys and not whole:
            alike = await source.digests(table, whole=True, keys=keys) == await target.digests(
                table, whole=True, keys=keys
            )
        if not alike:
            raise DependencyFailed(
                f"What came across of {table.name} differs from what is here; the workspace goes on here.",
                suggestion="Run it again. If it lasts, report it.",
            )

    async def _refuse_lost_originals(self, conn: Connection) -> None:
        place = None if self._originals is None else self._originals.place
        if (lost := await value_of(conn, _LOST, [self._number, place])) is not None:
            raise InvalidRequest(
                f"Originals of {self._report.workspace!r} are in {lost}.",
                suggestion="Name the store of the other deployment with --originals, and let CITEWELL_ORIGINALS be "
                "where they are now.",
            )

    async def _carry_originals(self) -> None:
        """Copy originals outside of PostgreSQL; a key names its bytes, so what is there already is the same."""
        await self._refuse_lost_originals(self._reader)
        if self._originals is None:
            return
        for digest, size, is_staged in await self._rows(_OUTSIDE):
            old, new = OriginalKey(self._number, digest), OriginalKey(self._there, digest)
            if digest in self._carried or (is_staged and not await self._originals.source.exists(old)):
                continue
            if not await self._originals.target.exists(new):
                data = b"".join([piece async for piece in self._originals.source.read(old, 0, size)])
                await self._originals.target.put(new, data)
            self._carried.add(digest)

    async def _raise_sequences(self) -> None:
        """Let the target number what comes later behind what came with the workspace."""
        for table in self._tables:
            for column in table.columns:
                if column.is_identity:
                    names = {"table": sql.Identifier(table.name), "column": sql.Identifier(column.name)}
                    statement = sql.SQL(_RAISE).format(**names, of=table.name, named=column.name)
                    await self._target.execute(statement, [self._there])

    async def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return await (await self._reader.execute(statement.encode(), [self._number])).fetchall()

    async def _mark(self) -> _Mark:
        row = await (await self._reader.execute(_MARK, [self._number])).fetchone()
        assert row is not None
        return _Mark(*row)


@asynccontextmanager
async def opened_move(
    source_url: str,
    target_url: str,
    name: str,
    *,
    limits: MoveLimits = MoveLimits(),
    originals: OutsideOriginals | None = None,
    on_progress: OnProgress = lambda line: None,
) -> AsyncIterator[WorkspaceMove]:
    """Open connections to both databases for a move, and keep others from moving the workspace.

    Raises NotFound, InvalidRequest or ConfigurationError where the move can't be, DatabaseUnavailable.
    """
    other = redacted_address(target_url)
    async with AsyncExitStack() as stack:
        stack.enter_context(database_errors())
        source, number = await _opened_source(stack, source_url, name, limits)
        reader = await _connected(stack, source_url, limits)
        target = await _connected(stack, target_url, limits, named=f"The database {other}")
        await _refuse_other_schema(source, target, other)
        tables = await moved_tables(source)
        if [table.schema for table in tables] != [table.schema for table in await moved_tables(target)]:
            raise InvalidRequest(
                f"The tables of {other} are not those of this database.",
                suggestion="Is pgvector in one of them only? `citewell reindex` adds vectors to a library without.",
            )
        yield WorkspaceMove(
            source,
            reader,
            target,
            tables,
            Report(name, other),
            number,
            from_address=redacted_address(source_url),
            limits=limits,
            originals=originals,
            on_progress=on_progress,
        )


async def abandon_move(
    source_url: str, name: str, target_url: str | None = None, *, limits: MoveLimits = MoveLimits()
) -> str:
    """Give up a half-done move: the source serves the workspace. Returns the database that it was on its way to.

    With ``target_url`` what has come across is deleted there. Raises InvalidRequest where no move is half done, or it
    is open in the target already.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(database_errors())
        source, number = await _opened_source(stack, source_url, name, limits)
        row = await (await source.execute(_STATE, [number])).fetchone()
        if row is None or row[1] in ("moved", "arrived", "arriving", "dropped"):
            raise InvalidRequest(f"{name!r} is not on its way to another database.")
        if row[1] == "sealed" and target_url is None:
            raise InvalidRequest(
                f"{name!r} may be open in {row[2]} already.", suggestion="Name that database, too: --to URL --abandon."
            )
        if target_url is not None:
            target = await _connected(stack, target_url, limits, named=f"The database {redacted_address(target_url)}")
            found = await (await target.execute(_ARRIVED, [name])).fetchone()
            if found is not None and found[1] == row[0]:
                await target.execute(_DROP, [found[0]])
                state = await value_of(target, "SELECT state FROM workspace_moves WHERE workspace = %s", [found[0]])
                if state != "dropped":
                    raise InvalidRequest(
                        f"{name!r} is open in {row[2]}, where it may have changed since.",
                        suggestion="Run the move again, without --abandon, to end it.",
                    )
                await delete_workspace(target, found[0])
            elif row[1] == "sealed" and redacted_address(target_url) != row[2]:
                raise InvalidRequest(f"{name!r} was on its way to {row[2]}.", suggestion="Name that database.")
        await source.execute("DELETE FROM workspace_moves WHERE workspace = %s AND state <> 'moved'", [number])
        return str(row[2])


async def _place(conn: Connection, number: int, lost: str) -> Place:
    place = await find_place(conn, number)
    if place is None:
        raise NotFound(lost)
    return place


async def _opened_source(stack: AsyncExitStack, url: str, name: str, limits: MoveLimits) -> tuple[Connection, int]:
    source = await _connected(stack, url, limits)
    number = await value_of(source, "SELECT number FROM workspaces WHERE name = %s", [name])
    if number is None:
        raise UnknownWorkspace(name, suggestion="See `citewell workspaces list`.")
    if not await stack.enter_async_context(only_one(source, "%s, %s", MOVERS, number)):
        raise InvalidRequest(f"Another process is moving {name!r} already.", suggestion="Wait for it to end.")
    if not await stack.enter_async_context(only_mover(source, number)):
        raise InvalidRequest(f"{name!r} is being moved between tables.", suggestion="Try again in a moment.")
    return source, number


async def _connected(stack: AsyncExitStack, url: str, limits: MoveLimits, *, named: str = "The database") -> Connection:
    try:
        conn = await psycopg.AsyncConnection.connect(url, autocommit=True, client_encoding="utf8", **CONNECTING)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(
            f"{named} cannot be reached: {str(error).splitlines()[0]}",
            suggestion="Check that PostgreSQL runs there, and the address; then run the command again.",
        ) from error
    await stack.enter_async_context(conn)
    await conn.execute(
        "SELECT set_config('lock_timeout', %s, false), set_config('citewell.moving', 'on', false),"
        " set_config('jit', 'off', false)",
        [f"{limits.lock * 1000:.0f}"],
    )
    return conn


async def _refuse_other_schema(source: Connection, target: Connection, other: str) -> None:
    migration = "SELECT max(version_num) FROM alembic_version"
    here = await value_of(source, migration)
    try:
        there = await value_of(target, migration)
    except psycopg.errors.UndefinedTable:
        raise InvalidRequest(
            f"{other} is no database of Citewell.", suggestion="Run `citewell migrate` with CITEWELL_DATABASE_URL set."
        ) from None
    if here != there:
        raise InvalidRequest(
            f"This database is at migration {here}, and {other} at {there}.",
            suggestion="Run `citewell migrate` of the same release on both.",
        )


async def _refuse_other_models(source: Connection, target: Connection, other: str) -> None:
    """Raise EmbeddingMismatch where the vectors of the two are of different models; one without any takes any."""
    here = await (await source.execute(_MODEL)).fetchone()
    if here is not None:
        await target.execute(_RECORD_MODEL, here)
    there = await (await target.execute(_MODEL)).fetchone()
    if here is not None and here != there:
        raise EmbeddingMismatch(
            f"The vectors here are of {here[0]} with {here[1]} dimensions, and in {other} "
            f"of {there[0] if there else None} with {there[1] if there else None}.",
            suggestion="Run `citewell reindex` on one of them, with the model of the other.",
        )


_STATE = "SELECT move_id::text, state, other FROM workspace_moves WHERE workspace = %s"
_BEGIN = """
INSERT INTO workspace_moves (workspace, move_id, state, other) VALUES (%s, gen_random_uuid(), 'copying', %s)
ON CONFLICT (workspace) DO UPDATE SET move_id = excluded.move_id, state = 'copying', other = excluded.other,
    began_at = now(), moved_at = NULL
RETURNING move_id::text, state
"""
_ARRIVED = """
SELECT number, m.move_id::text, m.state FROM workspaces
LEFT JOIN workspace_moves AS m ON m.workspace = number AND m.state IN ('arriving', 'arrived', 'dropped')
WHERE name = %s
"""
_ARRIVE = "INSERT INTO workspace_moves (workspace, move_id, state, other) VALUES (%s, %s, 'arriving', %s)"
_SET_STATE = """
UPDATE workspace_moves SET state = %s, until = clock_timestamp() + make_interval(secs => %s)
WHERE move_id = %s AND state IN ('copying', 'draining', 'closed')
"""
_REOPEN = """
UPDATE workspace_moves SET state = 'copying', until = NULL WHERE move_id = %s AND state IN ('draining', 'closed')
"""
_SEAL = """
WITH closed AS (SELECT workspace, until FROM workspace_moves WHERE move_id = %s AND state = 'closed')
UPDATE workspace_moves AS m SET state = 'sealed', until = NULL FROM closed
WHERE m.workspace = closed.workspace AND closed.until > clock_timestamp() RETURNING closed.until
"""
_UNSEAL = "UPDATE workspace_moves SET state = 'copying' WHERE move_id = %s AND state = 'sealed'"
_OPEN = """
UPDATE workspace_moves SET state = 'arrived', moved_at = now()
WHERE workspace = %s AND move_id = %s AND state IN ('arriving', 'arrived')
"""
_MOVED = "UPDATE workspace_moves SET state = 'moved', moved_at = now() WHERE move_id = %s AND state = 'sealed'"
_DROP = "UPDATE workspace_moves SET state = 'dropped' WHERE workspace = %s AND state = 'arriving'"
_RUNNING = "SELECT count(*) FROM runs WHERE workspace = %s AND status <> 'finished' AND lease_until >= now()"
_ABANDON_RUNS = """
UPDATE runs SET attempt = attempt + 1, lease_until = '-infinity' WHERE workspace = %s AND status <> 'finished'
"""
_UNFINISHED = "SELECT DISTINCT session_id::text FROM runs WHERE workspace = %s AND status <> 'finished'"
_OUTSIDE = """
SELECT sha256, size, staged_until IS NOT NULL FROM originals WHERE workspace = %s AND place <> 'postgresql'
"""
_LOST = """
SELECT place FROM originals WHERE workspace = %s AND place <> 'postgresql' AND place IS DISTINCT FROM %s LIMIT 1
"""
_COUNT_OUTSIDE = "SELECT count(*) FROM originals WHERE workspace = %s AND place <> 'postgresql'"
_RAISE = """
SELECT setval(sequence, most) FROM (
    SELECT max({column}) AS most, pg_get_serial_sequence({of}, {named})::regclass AS sequence
    FROM {table} WHERE workspace = %s
) AS moved WHERE most > coalesce(pg_sequence_last_value(sequence), 0)
"""
_MODEL = "SELECT model, dimension FROM embedding_models"
_RECORD_MODEL = """
INSERT INTO embedding_models (model, dimension) SELECT %s, %s
WHERE NOT EXISTS (SELECT FROM embedding_models) ON CONFLICT (only_one) DO NOTHING
"""
_MARK = """
SELECT (SELECT recorded_at::text FROM embedding_models), terms_version FROM library_statistics
WHERE workspace = %s
"""
