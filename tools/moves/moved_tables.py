"""The tables that hold a workspace, derived from the database, and how its rows in two databases are made alike.

A table belongs to a workspace by its column ``workspace``, by a foreign key to a table that does, or as ``BY_ID`` says.
What is in neither and not in ``LEFT_OUT`` is an error, so that no table of a later release is forgotten.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import Any

from psycopg import sql

from graph.errors import ConfigurationError
from tools.storage.batches import in_batches
from tools.storage.database import Connection, value_of
from tools.storage.partitions import Place

Key = tuple[str, ...]
Digest = tuple[int, Any]  # rows, and the sum of their hashes, or 0
ROWS_AT_ONCE = 2_000  # in a transaction of the target

LEFT_OUT: Mapping[str, str] = {
    "workspaces": "made in the other database, under a number of its own",
    "workspace_moves": "each database has its own side of a move",
    "alembic_version": "of the schema",
    "checkpointer_setup": "of the schema",
    "checkpoint_migrations": "of the schema",
    "embedding_models": "one a database: both have the same, or the workspace does not move",
    "judge_exams": "of the deployment, whose judges sit them again",
    "logins": "of people, who log in where they ask",
    "link_secret": "one a database",
    "link_grants": "named by links, which the secret of this database signs and which end with the move",
    "used_limits": "of the minute or the day of a credential, counted anew",
    "audit_log": "what happened here is told here",
    "original_views": "seen again in the other database, when somebody looks",
    "laid_out_texts": "laid out again in the other database, when somebody looks",
    "search_index": "of the index beside this database",
    "index_changes": "of the index beside this database; the other queues what its own has to follow",
    "reindexed_segments": "gathered by a reindex of this database",
    "term_changes": "of a count that is under way, which maintenance does again",
    "further_segments": "moved as segments, a part at a time",
    "further_segment_vectors": "moved as segment_vectors, a part at a time",
    "shared_segments": "moved as segments, which a workspace has in one place or the other",
    "shared_segment_vectors": "moved as segment_vectors",
}
# Tables whose rows name a run or a thread without a foreign key.
BY_ID: Mapping[str, tuple[str, str, str]] = {
    "run_events": ("run_id", "runs", "run_id"),
    "checkpoints": ("thread_id", "sessions", "session_id"),
    "checkpoint_blobs": ("thread_id", "sessions", "session_id"),
    "checkpoint_writes": ("thread_id", "sessions", "session_id"),
}
# Large tables are compared and copied by groups of rows. Those of a table that follows another change only in
# transactions that change their row of that one, or delete or add some of them.
FOLLOWS: Mapping[str, tuple[str, Key]] = {
    "segments": ("documents", ("document_id",)),
    "segment_vectors": ("documents", ("document_id",)),
    "document_versions": ("documents", ("document_id",)),
    "original_chunks": ("originals", ("sha256",)),
    "messages": ("sessions", ("session_id",)),
    "checkpoints": ("sessions", ("thread_id",)),
    "checkpoint_blobs": ("sessions", ("thread_id",)),
    "checkpoint_writes": ("sessions", ("thread_id",)),
    "run_events": ("runs", ("run_id",)),
    "ingestion_uploads": ("ingestion_files", ("job_id", "file_no")),
}
GROUPED: Mapping[str, Key] = {"spending": ("day",), **{name: key for name, (_, key) in FOLLOWS.items()}}
IN_PARTS = {"segments", "segment_vectors"}
NOT_COPIED = {("library_statistics", "own_tables"), ("library_statistics", "recounting")}
# Where originals are is another place in another deployment.
COPIED_AS = {("originals", "place"): "CASE WHEN place = 'postgresql' THEN place ELSE {place} END"}
_OF_ONE = r"^(segments|segment_vectors|run_events)_\w+$"  # a partition, or what is to become one

_COLUMNS = f"""
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), t.typsend::oid::regproc::text, a.attnotnull,
       a.attidentity <> '' AS is_identity,
       coalesce(array_position(i.indkey::smallint[], a.attnum), -1)::integer AS in_key
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid JOIN pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND c.relname !~ '{_OF_ONE}' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
ORDER BY c.relname, a.attname
"""
_REFERENCES = """
SELECT child.relname, parent.relname,
       array(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS k (no, at)
             JOIN pg_attribute ON attrelid = conrelid AND attnum = no ORDER BY at),
       array(SELECT attname::text FROM unnest(confkey) WITH ORDINALITY AS k (no, at)
             JOIN pg_attribute ON attrelid = confrelid AND attnum = no ORDER BY at)
FROM pg_constraint JOIN pg_class AS child ON child.oid = conrelid JOIN pg_class AS parent ON parent.oid = confrelid
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conrelid <> confrelid
ORDER BY conname
"""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is stored, not generated; ``send`` is the function that gives its bytes."""

    name: str
    type: str
    send: str
    not_null: bool
    is_identity: bool
    in_key: int  # its place in the primary key, or -1


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A table that holds rows of a workspace: ``scope`` is the condition that tells which.

    Rows are compared by ``key``: each by its own, but for those of ``GROUPED``. Of segments and vectors it is the table
    of one ``part`` of the workspace: see ``in_parts``.
    """

    name: str
    columns: tuple[Column, ...]
    scope: str
    part: int = 0

    @property
    def primary_key(self) -> Key:
        """The columns of the primary key."""
        return tuple(each.name for each in sorted(self.columns, key=lambda each: each.in_key) if each.in_key >= 0)

    @property
    def key(self) -> Key:
        """The columns by which rows are compared; none where a workspace has one row."""
        return GROUPED.get(self.name) or tuple(name for name in self.primary_key if name != "workspace")

    @property
    def copied(self) -> list[Column]:
        """The columns that are copied."""
        return [each for each in self.columns if (self.name, each.name) not in NOT_COPIED]

    @property
    def schema(self) -> tuple[tuple[str, str], ...]:
        """The names and types of its columns."""
        return tuple((each.name, each.type) for each in self.columns)


def in_parts(tables: Iterable[MovedTable], place: Place) -> Iterator[MovedTable]:
    """Yield the tables in their order, those of segments and vectors once for each part of a workspace.

    So a part is copied to the part of the same number, and a document that went to another one is deleted in its first.
    """
    for table in tables:
        for part in range(place.parts if table.name in IN_PARTS else 1):
            yield replace(table, part=part)


async def moved_tables(conn: Connection) -> list[MovedTable]:
    """Return a workspace's tables, each behind those that it refers to. Raises ConfigurationError for unknown ones."""
    columns: dict[str, list[Column]] = {}
    for name, *column in await (await conn.execute(_COLUMNS)).fetchall():
        columns.setdefault(name, []).append(Column(*column))
    references = await (await conn.execute(_REFERENCES)).fetchall()
    scopes = {
        name: "workspace = {workspace}"
        for name, of in columns.items()
        if name not in LEFT_OUT and any(each.name == "workspace" and each.type == "integer" for each in of)
    }
    while found := {name: scope for name, scope in _through(columns, references, scopes) if name not in scopes}:
        scopes |= found
    if unknown := sorted(columns.keys() - scopes.keys() - LEFT_OUT.keys()):
        raise ConfigurationError(
            f"Nothing says whether these tables move with a workspace: {', '.join(unknown)}.",
            suggestion="Give each a foreign key, or a line in tools/moves/moved_tables.py.",
        )
    order: dict[str, set[str]] = {name: set() for name in scopes}
    for child, parent, *_ in references:
        if child in scopes and parent in scopes:
            order[child].add(parent)
    for child, (parent, _) in FOLLOWS.items():
        order[child].add(parent)
    return [MovedTable(name, tuple(columns[name]), scopes[name]) for name in TopologicalSorter(order).static_order()]


def _through(
    columns: Mapping[str, list[Column]], references: Iterable[Sequence[Any]], scopes: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the tables that belong to a workspace through another, with the condition that tells which rows do."""
    for child, (column, parent, id_) in BY_ID.items():
        cast = "::text" if column == "thread_id" else ""
        yield child, f"{column} IN (SELECT {id_}{cast} FROM {parent} WHERE {scopes[parent]})"
    for child, parent, own, theirs in references:
        if parent not in scopes or child in LEFT_OUT:
            continue
        if all(each.not_null for each in columns[child] if each.name in own):
            yield child, f"({', '.join(own)}) IN (SELECT {', '.join(theirs)} FROM {parent} WHERE {scopes[parent]})"


@dataclass(frozen=True, slots=True)
class Side:
    """A workspace in one of the two databases; ``originals`` stands for the place of those outside of PostgreSQL."""

    conn: Connection
    place: Place
    originals: str | None = None

    async def digests(
        self, table: MovedTable, *, whole: bool, keys: Collection[Key] | None = None
    ) -> dict[Key, Digest]:
        """Return how many rows there are of each key, or of some, and the sum of their hashes.

        Rows of a table that follows another are hashed only where ``whole`` says so, or some keys are asked for.
        """
        hashed = "0"
        if whole or table.name not in FOLLOWS or keys is not None:
            sent = (f"{each.send}({self._value(table, each)})" for each in table.copied if each.name != "workspace")
            hashed = f"sum(hash_record_extended(ROW({', '.join(sent)}), 0))"
        found = await self.conn.execute(
            self._select(table, [*(f"{name}::text" for name in _quoted(table.key)), "count(*)", hashed], keys)
            + sql.SQL(f" GROUP BY {', '.join(_quoted(table.key))}" if table.key else " HAVING count(*) > 0"),
            prepare=False,
        )
        return {tuple(row[:-2]): (row[-2], row[-1]) async for row in found}

    async def count(self, table: MovedTable) -> int:
        """Return how many rows there are."""
        return int(await value_of(self.conn, self._select(table, ["count(*)"]), prepare=False))

    async def remove(self, table: MovedTable, keys: Collection[Key]) -> None:
        """Delete the rows of some keys, and what refers to them."""
        statement = sql.SQL("DELETE FROM {} WHERE ").format(self._name(table)) + self._condition(table, keys)
        await self.conn.execute(statement, prepare=False)

    def reading(self, table: MovedTable, keys: Collection[Key], target: "Side") -> sql.Composed:
        """Return the statement that copies the rows of some keys out, as those of another workspace."""
        values = [
            f"{target.place.workspace}::integer" if each.name == "workspace" else self._value(table, each)
            for each in table.copied
        ]
        return sql.SQL("COPY ({}) TO STDOUT (FORMAT binary)").format(self._select(table, values, keys))

    async def write(self, table: MovedTable, keys: Collection[Key], source: "Side") -> int:
        """Write the rows of some keys as they are in the source, in a transaction; return how many there were."""
        columns = sql.SQL(", ").join(sql.Identifier(each.name) for each in table.copied)
        names = {"table": self._name(table), "columns": columns}
        async with self.conn.transaction():
            if table.name in GROUPED:
                await self.remove(table, keys)
                return await self._copy(source, source.reading(table, keys, self), sql.SQL(_INTO).format(**names))
            # A row that others refer to is changed where it is.
            await self.conn.execute(sql.SQL(_TEMPORARY).format(**names))
            into = sql.SQL(_INTO).format(table=sql.Identifier("moved_rows"), columns=columns)
            rows = await self._copy(source, source.reading(table, keys, self), into)
            changed = [
                sql.SQL("{0} = excluded.{0}").format(sql.Identifier(each.name))
                for each in table.copied
                if each.in_key < 0 and not each.is_identity
            ]
            key = sql.SQL(", ").join(map(sql.Identifier, table.primary_key))
            statement = sql.SQL(_UPSERT).format(**names, key=key, changed=sql.SQL(", ").join(changed))
            if any(each.name == "workspace" for each in table.columns):
                # An id that another workspace has there is left to it, and missed when both sides are compared.
                statement += sql.SQL("WHERE {}.workspace = excluded.workspace").format(self._name(table))
            await self.conn.execute(statement)
            return rows

    async def _copy(self, source: "Side", reading: sql.Composed, writing: sql.Composed) -> int:
        cursor = self.conn.cursor()
        async with source.conn.cursor().copy(reading) as blocks, cursor.copy(writing) as into:
            async for block in blocks:
                await into.write(block)
        return cursor.rowcount

    def _name(self, table: MovedTable) -> sql.Identifier:
        if table.name not in IN_PARTS:
            return sql.Identifier(table.name)
        of_part = self.place.tables[table.part]
        return of_part.segments if table.name == "segments" else of_part.vectors

    def _value(self, table: MovedTable, column: Column) -> str:
        instead = COPIED_AS.get((table.name, column.name))
        if instead is None or self.originals is None:
            return f'"{column.name}"'
        return instead.format(place=sql.Literal(self.originals).as_string(self.conn))

    def _select(self, table: MovedTable, values: Sequence[str], keys: Collection[Key] | None = None) -> sql.Composed:
        chosen = sql.SQL(", ".join(values))
        return sql.SQL("SELECT {} FROM {} WHERE ").format(chosen, self._name(table)) + self._condition(table, keys)

    def _condition(self, table: MovedTable, keys: Collection[Key] | None) -> sql.Composed:
        scope = sql.SQL(table.scope.format(workspace=self.place.workspace)).format()
        if keys is None or not table.key:
            return scope
        types = {each.name: each.type for each in table.columns}
        named = [f"k{number}" for number in range(len(table.key))]
        return scope + sql.SQL(" AND ({}) IN (SELECT {} FROM unnest({}) AS k ({}))").format(
            sql.SQL(", ".join(_quoted(table.key))),
            sql.SQL(", ".join(f"{name}::{types[of]}" for name, of in zip(named, table.key, strict=True))),
            sql.SQL(", ").join(sql.SQL("{}::text[]").format(sql.Literal(list(of))) for of in zip(*keys, strict=True)),
            sql.SQL(", ".join(named)),
        )


def _quoted(names: Iterable[str]) -> list[str]:
    return [f'"{name}"' for name in names]


async def make_alike(
    source: Side, target: Side, table: MovedTable, *, whole: bool, changed: Collection[Key] = ()
) -> tuple[int, set[Key]]:
    """Make the rows of the target those of the source; return how many were written, and the keys that differed.

    ``changed`` are keys whose rows are written however alike they look. Each batch is a transaction of the target.
    """
    here, there = await source.digests(table, whole=whole), await target.digests(table, whole=whole)
    gone = [key for key in there if key not in here]
    for some in _batches(gone, there):
        await target.remove(table, some)
    differing = [key for key, digest in here.items() if key in changed or there.get(key) != digest]
    changing, new = [key for key in differing if key in there], [key for key in differing if key not in there]
    rows = 0
    # A run that has ended makes room for the next of its session, of which one alone may be running.
    for some in (*_batches(changing, here), *_batches(new, here)):
        rows += await target.write(table, some, source)
    return rows, {*gone, *differing}


def _batches(keys: Iterable[Key], digests: Mapping[Key, Digest]) -> Iterator[list[Key]]:
    """Yield the keys in batches of at most ``ROWS_AT_ONCE`` rows, or of one key that has more."""
    return in_batches(keys, lambda key: digests[key][0], ROWS_AT_ONCE)


_INTO = "COPY {table} ({columns}) FROM STDIN (FORMAT binary)"
_TEMPORARY = "CREATE TEMPORARY TABLE moved_rows ON COMMIT DROP AS SELECT {columns} FROM {table} WHERE false"
_UPSERT = """
INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM moved_rows
ON CONFLICT ({key}) DO UPDATE SET {changed}
"""
