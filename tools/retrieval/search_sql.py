"""The SQL of search: one statement that finds, scores, fuses, widens and reads, and its rows as hits.

Built of fixed parts, by partition and by which legs take part; everything that a caller says is a bound parameter. The
legs, both within the workspace's own partition:

- lexical: the most telling terms of the question pick candidates by the index on terms; every candidate is scored by
  all terms, as the inner product of its stored weights with the question's IDFs. Of the more common terms those
  segments are candidates that combine them best, box by box until the budget is spent: see ``common_terms``.
- dense: the nearest vectors, by HNSW where the partition has one, else by reading all of them.

Where the process holds the segments in memory, or an index outside of the database is asked, it names the candidates
of both legs, and the table is searched only where the library has changed since, or where filters leave too few.

Documents are joined after the ordering, so a filter is checked only until a leg is full, and a leg continues past
whatever it rejects. Where the caller names a few documents or a small space, their segments are all read and scored
instead: no candidate is missed there. Of documents that texts name by their titles the best segments are found.

Both legs' scores are computed for every candidate, whichever leg brought it, and become one score in [0, 1]. The order
is the score's own, so nothing needs to be made monotone, and a score means the same in every library:
docs/adr/0004-calibrated-score.md.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import psycopg
from numpy.typing import NDArray

from answers.fusion import NEIGHBOUR_DECAY
from graph.evidence import Hit
from text.terms import UNSPACED_TERM
from tools.retrieval.scope import LASTING, NOT_EXPIRED, READABLE, SEGMENT_COLUMNS, as_segment
from tools.storage.database import Connection
from tools.storage.partitions import LIBRARY_VERSION, ReadTables

IDF_POWER = 1.3  # sharpens the IDF: question words are rarer in prose than they are telling
CONSTRAINTS = 6  # of a box of common terms
CONTEXT = 0.3  # what the better neighbour adds to a segment's lexical score
CONTEXT_NORM = 1 + 0.6 * CONTEXT  # so that a document in many segments has no advantage over one in one

# Fitted by research/fitting/fit_score.py. A ratio of 1 is about a segment that holds every word of the question.
INTERCEPT = -1.94
LEXICAL = 7.41
# How much the odds rise that a document bears on a question where what was found names it: docs/adr/0016.
NAMED = 20.0

SCORE = f"""1 / (1 + exp(-({INTERCEPT}
        + {LEXICAL} * CASE WHEN beside IS NULL THEN own ELSE (own + {CONTEXT} * beside) / {CONTEXT_NORM} END
            / greatest(attainable, 1e-6)
        + %(dense_slope)s::float8 * similarity + %(dense_offset)s::float8)))"""


def dense_coverage(coverage: float) -> float:
    """Turn how far the embedding model understands a question into the weight of the dense leg, from 0 to 1.

    The thresholds separate languages that the static model knows (0.9) from those it spells out (0.1 and less).
    """
    return min(max((coverage - 0.4) / 0.5, 0.0), 1.0)


def with_odds(score: float, factor: float) -> float:
    """Multiply the odds of a score in [0, 1]; factors above 1 raise it, the order of scores stays."""
    return score * factor / (1 - score + score * factor)


EXPLORED = 450  # neighbours that HNSW keeps while it looks, in all parts of a workspace together
LEAST_EXPLORED = 100  # in one of them
# A plan made once for all parameters: planning takes longer than the search itself in a small workspace.
_SETTINGS = (
    "SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),"
    " set_config('hnsw.ef_search', '{explored}', true), set_config('hnsw.iterative_scan', 'strict_order', true)"
)
_PARAMETER = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with numbered parameters, and their names in order."""

    text: str
    parameters: tuple[str, ...]

    async def execute(self, conn: Connection, bound: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run it and fetch all rows, within ``planned``."""
        cursor = psycopg.AsyncRawCursor(conn)
        values = [bound[name] for name in self.parameters]
        await cursor.execute(self.text, values, prepare=True, binary=True)
        return await cursor.fetchall()


@asynccontextmanager
async def planned(conn: Connection, *, explored: int = EXPLORED) -> AsyncIterator[None]:
    """Have the statements inside planned as those of a search are, in one transaction that ends with the block.

    The settings go along with the first of them. After an error no other may follow in the block. ``explored`` are the
    neighbours that HNSW keeps while it looks in one index; a scan goes on where they are too few.
    """
    async with conn.pipeline():
        await conn.execute(_SETTINGS.format(explored=explored), prepare=True)
        yield


def numbered(text: str) -> Statement:
    """Replace the named parameters of a statement by numbered ones, once: psycopg would for each search."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    return Statement(_PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", text), names)


# Looked up for one document after another, by primary key. OFFSET 0 keeps the planner from joining everything before
# anything is ordered, and num_nulls from the index that listings use, whose order is by date.
_SEEN = (
    """EXISTS (
        SELECT 1 FROM documents AS d WHERE d.workspace = {workspace} AND d.document_id = c.document_id
        AND num_nulls(d.deleted_at) = 1 AND """
    + READABLE
    + """ AND {lasting}
        AND (%(spaces)s::text[] IS NULL OR d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s)) OFFSET 0
    )"""
)

# Read once: as a parameter it would be cast anew for every vector that it is compared with.
_VECTOR = """
vector AS MATERIALIZED (SELECT %(embedding)s::halfvec({dimension}) AS embedding),"""

_TERMS = """
asked AS MATERIALIZED (
    SELECT a.term, a.weight, a.expected, l.segments, a.unspaced, a.common,
        coalesce(
            (SELECT segments FROM term_statistics AS t WHERE t.workspace = {workspace} AND t.term = a.term),
            (SELECT count(*) FROM {indexed} @> ARRAY[{term_key}a.term])
        ) AS df
    FROM unnest(%(terms)s::integer[], %(weights)s::float4[], %(expected)s::float4[], %(unspaced)s::boolean[],
        %(common)s::boolean[]) AS a (term, weight, expected, unspaced, common)
    JOIN library_statistics AS l ON l.workspace = {workspace}
), alike AS (
    SELECT *, CASE WHEN unspaced THEN greatest(df, coalesce(
            (SELECT segments FROM term_statistics WHERE workspace = {workspace} AND term = {unspaced_term}),
            (SELECT nullif(count(*), 0) FROM {indexed} @> ARRAY[{term_key}{unspaced_term}]),
            segments
        )) ELSE segments END AS n
    FROM asked
), weighed AS MATERIALIZED (
    SELECT term, expected, df, segments, df > 0 AND NOT common AS picks,
        weight * ln(1 + (n - df + 0.5) / (df + 0.5)) ^ {idf_power}::float8 AS idf
    FROM alike
)"""
_QUESTION = (
    _TERMS
    + """, ranked AS MATERIALIZED (
    SELECT *, sum(df) OVER by_weight AS reach, row_number() OVER by_weight AS place,
        sum(idf) OVER by_weight - idf AS covered_weight, sum(idf) FILTER (WHERE df > 0) OVER () AS total
    FROM weighed WINDOW by_weight AS (PARTITION BY picks ORDER BY idf DESC, term ROWS UNBOUNDED PRECEDING)
), picked AS MATERIALIZED (
    SELECT *, picks AND (
        place <= 2 OR least(reach, segments) <= %(budget)s AND covered_weight < %(covered_weight)s::float8 * total
    ) AS is_picked FROM ranked
), question AS MATERIALIZED (
    SELECT
        {weights},
        array_agg({term_key}term) FILTER (WHERE is_picked) AS picks,
        sum(expected * idf) AS attainable,
        greatest(%(budget)s - coalesce(sum(df) FILTER (WHERE is_picked), 0), 0)::bigint AS left_over
    FROM picked
)"""
)

_LEXICAL = (
    """,
lexical AS MATERIALIZED (
    SELECT c.document_id, c.segment_index
    FROM (
        SELECT DISTINCT ON (distance, document_id, segment_index) document_id, segment_index
        FROM (
            SELECT document_id, segment_index, {picked_distance} AS distance
            FROM {indexed} && (SELECT picks FROM question)
            UNION ALL
            SELECT * FROM (
                SELECT s.* FROM unnest({boxes}) AS box ({constraints}) CROSS JOIN LATERAL (
                    SELECT document_id, segment_index, {picked_distance} AS distance
                    FROM {partition} AS within WHERE {within}
                ) AS s
                LIMIT (SELECT left_over FROM question)
            ) AS boxed
        ) AS candidate
        ORDER BY distance, document_id, segment_index OFFSET 0
    ) AS c
    WHERE """
    + _SEEN
    + """
    LIMIT {leg}
)"""
)

_DENSE = (
    """,
bound AS MATERIALIZED (
    SELECT max(c.distance) AS distance FROM (
        SELECT c.distance FROM (
            SELECT document_id, embedding <=> (SELECT embedding FROM vector) AS distance
            FROM (SELECT document_id, embedding FROM {vectors} AS v LIMIT {sample}) AS sample ORDER BY distance
        ) AS c
        WHERE """
    + _SEEN
    + """
        LIMIT {leg}
    ) AS c HAVING count(*) = {leg}
), dense AS MATERIALIZED (
    SELECT c.document_id, c.segment_index
    FROM (
        SELECT document_id, segment_index FROM {vectors} AS v
        WHERE (embedding <=> (SELECT embedding FROM vector))
            <= coalesce((SELECT distance FROM bound), 'Infinity')
        ORDER BY embedding::halfvec({dimension}) <=> (SELECT embedding FROM vector) LIMIT {near}
    ) AS c
    WHERE """
    + _SEEN
    + """
    LIMIT {leg}
)"""
)
_VERSION = """
library AS MATERIALIZED (SELECT {version} AS version FROM library_statistics AS l WHERE l.workspace = {workspace}),"""
_PRESENT = ", (SELECT version FROM library)"

_SCOPE = (
    """,
scope AS MATERIALIZED (
    SELECT s.document_id, s.segment_index, {lexical_distance} AS lexical_distance, {distance} AS dense_distance
    FROM (
        SELECT c.document_id FROM unnest(%(document_ids)s::uuid[]) AS c (document_id) WHERE """
    + _SEEN
    + """
    ) AS d JOIN {partition} AS s ON s.workspace = {workspace} AND s.document_id = d.document_id {opening}
    {with_vector} CROSS JOIN question AS q
), lexical AS (
    {lexical}
), dense AS (
    {nearest}
)"""
)
# What an index outside of the database names; ``known`` leaves out what is not, or no more, in the library. By words it
# is ordered anew, since of equal scores the index would take others than the lexical leg does.
_NAMED = "".join(
    f""",
known_{leg} AS MATERIALIZED (
    SELECT c.document_id, c.segment_index, {order} AS place
    FROM unnest(%({leg}_documents)s::uuid[], %({leg}_indexes)s::integer[]) WITH ORDINALITY
        AS c (document_id, segment_index, place)
    JOIN {{partition}} AS s ON s.workspace = {{workspace}}
        AND s.document_id = c.document_id AND s.segment_index = c.segment_index
    CROSS JOIN question AS q
), named_{leg} AS MATERIALIZED (
    SELECT c.document_id, c.segment_index
    FROM (SELECT * FROM known_{leg} ORDER BY place, document_id, segment_index OFFSET 0) AS c WHERE """
    + _SEEN
    + """
    LIMIT {leg}
)"""
    for leg, order in (("lexical", "{lexical_distance}"), ("dense", "c.place"))
)
_NAMED_PARTS = ("known_lexical", "known_dense", "named_lexical", "named_dense")
_NAMED_COUNTS = ", ".join(["", *(f"(SELECT count(*)::integer FROM {name})" for name in _NAMED_PARTS)])

# A segment has no distance of terms where the library has none of the question's, as of one in another language.
_RANKED = (
    """,
pool AS MATERIALIZED (
    SELECT s.document_id, s.segment_index, coalesce(-({lexical_distance}), 0) AS own,
        {similarity} AS similarity, q.attainable, (
        SELECT max(-({distance_beside})) FROM {partition} AS x WHERE x.workspace = {workspace}
        AND x.document_id = s.document_id AND x.segment_index IN (s.segment_index - 1, s.segment_index + 1)
    ) AS beside
    FROM ({legs}) AS found
    JOIN {partition} AS s ON s.workspace = {workspace}
        AND s.document_id = found.document_id AND s.segment_index = found.segment_index
    {with_vector} CROSS JOIN question AS q
), scored AS (
    SELECT document_id, segment_index, """
    + SCORE
    + """ AS score FROM pool
), top AS MATERIALIZED (
    SELECT * FROM scored WHERE score >= %(min_score)s
    ORDER BY score DESC, document_id, segment_index LIMIT %(top_k)s
), widened AS (
    SELECT document_id, near AS segment_index, max(score * {decay}::float8 ^ abs(near - segment_index)) AS score,
        max(score) FILTER (WHERE near = segment_index) AS own
    FROM top, generate_series(segment_index - %(expand)s::integer, segment_index + %(expand)s::integer) AS near
    GROUP BY document_id, near
)
SELECT {columns}, w.own, w.score {added_columns}
FROM widened AS w
CROSS JOIN LATERAL (
    SELECT * FROM {partition} AS s WHERE s.workspace = {workspace} AND s.document_id = w.document_id
    AND s.segment_index = w.segment_index LIMIT 1
) AS s
CROSS JOIN LATERAL (
    SELECT * FROM documents AS d WHERE d.workspace = {workspace} AND d.document_id = w.document_id LIMIT 1
) AS d
WHERE w.score >= %(min_score)s AND {here}
ORDER BY w.score DESC, w.document_id, w.segment_index"""
)

# The nearest of any few hundred vectors bound the nearest of all; what lies beyond the bound need not be sorted, which
# takes as long as measuring.
SAMPLE = 500
COVERED_WEIGHT = 0.9  # share of the question's weight that candidates are picked by; what holds only the rest ranks low
OPENING = 50  # segments of a document that is named by its title which are read; a title tells what it begins with
NEAR = 1000  # nearest vectors that are looked through for those that a filter lets pass

_WEIGHTS = """('{' || string_agg(term || ':' || idf::float4, ',') FILTER (WHERE df > 0) || '}/1000000000')::sparsevec
            AS vector"""
# Without pgvector: its inner product of two sparse vectors, written out for arrays of terms and of their weights.
_WEIGHTS_IN_ARRAYS = """array_agg(term) FILTER (WHERE df > 0) AS asked,
        array_agg(idf::float4) FILTER (WHERE df > 0) AS idfs"""
_DISTANCE_IN_ARRAYS = """(SELECT -coalesce(sum({row}weights[array_position({row}terms, a.term)] * a.idf)::float8, 0)
            FROM unnest({asked}, {idfs}) AS a (term, idf))"""

# The slots that all statements fill alike.
_FIXED: Mapping[str, object] = {
    "near": NEAR,
    "sample": SAMPLE,
    "version": LIBRARY_VERSION,
    "decay": NEIGHBOUR_DECAY,
    "idf_power": IDF_POWER,
    "unspaced_term": UNSPACED_TERM,
    "columns": SEGMENT_COLUMNS,
    "boxes": ", ".join(f"%(box_{place})s::text[]" for place in range(CONSTRAINTS)),
    "constraints": ", ".join(f"has_{place}" for place in range(CONSTRAINTS)),
    "within": " AND ".join(f"terms && box.has_{place}::integer[]" for place in range(CONSTRAINTS)),
}


def _of_tables(tables: ReadTables) -> dict[str, str]:
    return {
        "partition": tables.segments,
        "vectors": tables.vectors,
        "indexed": tables.indexed,
        "term_key": tables.term_key,
        "here": tables.here,
        "workspace": tables.workspace,
    }


Reach = Literal["library", "documents", "titles", "named"]
_FOUND = "SELECT document_id, segment_index FROM"


@dataclass(frozen=True, slots=True)
class _Search:
    """What the statement of a reach has of its own.

    ``finding`` stands behind the question's part, and ``ahead`` before it. ``legs`` are the parts that bring
    candidates, ``columns`` stand behind those of a hit, and ``lasting`` says which documents with a time limit count.
    ``slots`` are filled in ``finding``.
    """

    finding: str
    legs: tuple[str, ...]
    slots: Mapping[str, str]
    lasting: str = LASTING
    ahead: str = ""
    columns: str = ""


def _library(*, dense: bool) -> _Search:
    """Search by the indexes. A column is added, the present version of the library."""
    finding, legs = (_LEXICAL + _DENSE, ("lexical", "dense")) if dense else (_LEXICAL, ("lexical",))
    return _Search(finding, legs, {}, ahead=_VERSION, columns=_PRESENT)


def _documents(*, dense: bool, leg: int) -> _Search:
    """Read every segment of the documents that are named and pass the filters, those with a time limit too."""
    lexical = f"{_FOUND} scope WHERE lexical_distance < 0 ORDER BY lexical_distance LIMIT {leg}"
    nearest = f"{_FOUND} scope ORDER BY dense_distance LIMIT {leg}"
    slots = {"opening": "", "lexical": lexical, "nearest": nearest}
    return _Search(_SCOPE, ("lexical", "dense") if dense else ("lexical",), slots, NOT_EXPIRED)


def _titles(*, dense: bool, leg: int) -> _Search:
    """Read the first ``OPENING`` segments of documents as ``_documents`` does, and bring of each its best alone."""
    best = "SELECT DISTINCT ON (document_id) document_id, segment_index FROM scope ORDER BY document_id"
    slots = {
        "opening": f"AND s.segment_index < {OPENING}",
        "lexical": f"{best}, lexical_distance, segment_index",
        "nearest": f"{best}, dense_distance, segment_index",
    }
    return replace(_documents(dense=dense, leg=leg), slots=slots)


def _named(*, dense: bool, leg: int) -> _Search:
    """Take the candidates that an index outside of the database names, and read documents beside them.

    Columns are added: the present version, how many candidates of each leg the library knows, and how many took part.
    Parameters:
    lexical_documents, lexical_indexes, dense_documents and dense_indexes.
    """
    beside = _documents(dense=dense, leg=leg)
    legs = (*beside.legs, "named_lexical", "named_dense")
    columns = _PRESENT + _NAMED_COUNTS
    return replace(beside, finding=_SCOPE + _NAMED, legs=legs, lasting=LASTING, ahead=_VERSION, columns=columns)


_NAMING_DOCUMENTS = {"documents": _documents, "titles": _titles, "named": _named}


def _distance(row: str, column: str, *, vectors: bool) -> str:
    """Return the SQL of the distance of a segment's weights from the question's, which ``column`` refers to."""
    if vectors:
        return f"{row}weights <#> {column.format('vector')}"
    asked, idfs = column.format("asked"), column.format("idfs")
    return _DISTANCE_IN_ARRAYS.format(row=row, asked=asked, idfs=idfs)


_WITH_VECTOR = """JOIN {vectors} AS v ON v.workspace = {workspace}
        AND v.document_id = s.document_id AND v.segment_index = s.segment_index"""


@lru_cache(maxsize=256)  # some 10 KB each, a few for a workspace with tables of its own
def search_statement(
    own: int | None,
    dimension: int,
    *,
    leg: int,
    dense: bool,
    reach: Reach,
    vectors: bool = True,
    parts: int = 1,
) -> Statement:
    """Build the statement for a workspace's partition, with or without the dense leg, and without pgvector.

    ``own`` is the number of a workspace with ``parts`` of its own; None is for any that is in the shared tables.
    ``leg`` is how many candidates each leg brings. The function named after a ``reach`` says what it finds, and which
    parameters and columns it adds.

    Parameters: those of ``hybrid_search.bound_parameters``. Columns: those of a segment, the score that a segment was
    found with or None for a neighbour, and the score that orders. Raises UndefinedTable where the workspace is
    elsewhere, or gone.
    """
    search = _library(dense=dense) if reach == "library" else _NAMING_DOCUMENTS[reach](dense=dense, leg=leg)
    tables = ReadTables.of(own, parts)
    distance = "v.embedding <=> (SELECT embedding FROM vector)" if dense else "0::float8"
    question = _VECTOR + _QUESTION if dense else _QUESTION
    template = "".join(["WITH", search.ahead, question, search.finding, _RANKED])
    text = template.format(
        **_FIXED,
        **_of_tables(tables),
        **search.slots,
        lasting=search.lasting,
        legs=" UNION ".join(f"{_FOUND} {each}" for each in search.legs),
        added_columns=search.columns,
        dimension=dimension,
        leg=leg,
        weights=_WEIGHTS if vectors else _WEIGHTS_IN_ARRAYS,
        picked_distance=_distance("", "(SELECT {} FROM question)", vectors=vectors),
        lexical_distance=_distance("s.", "q.{}", vectors=vectors),
        distance_beside=_distance("x.", "q.{}", vectors=vectors),
        distance=distance,
        # A zero vector has no direction.
        similarity=f"coalesce(nullif(1 - ({distance}), 'NaN'), 0)" if dense else distance,
        with_vector=_WITH_VECTOR.format(vectors=tables.vectors, workspace=tables.workspace) if dense else "",
    )
    return numbered(text)


def explored_in(parts: int) -> int:
    """Return how many neighbours are kept in each part: what is near in all is near in few of them."""
    return max(EXPLORED // parts, LEAST_EXPLORED)


@lru_cache(maxsize=256)
def question_part(workspace: int, rest: str, parts: int = 1, **slots: int) -> Statement:
    """Build a statement of a workspace with its own partitions that goes on from a question's ``weighed`` terms.

    ``slots`` are filled in ``rest`` beside those of the tables.
    """
    template = "WITH" + _TERMS + rest
    return numbered(template.format(**_FIXED, **_of_tables(ReadTables.of(workspace, parts)), **slots))


_SEGMENT_COLUMNS = SEGMENT_COLUMNS.count(",") + 1


def as_hit(row: tuple[Any, ...]) -> Hit:
    """Read a row of ``search_statement``."""
    own, score = row[_SEGMENT_COLUMNS : _SEGMENT_COLUMNS + 2]
    return Hit(as_segment(row[:_SEGMENT_COLUMNS]), score, own_score=own or 0.0)


def vector_as_text(vector: Sequence[float] | NDArray[np.float32]) -> str:
    """Write a vector as the literal of a halfvec."""
    return "[" + ",".join([f"{value:.5g}" for value in np.asarray(vector).tolist()]) + "]"
