"""The SQL of search: one statement that finds, scores, fuses, widens and reads.

Built of fixed parts, by partition and by which legs take part; everything that a caller says is a bound parameter.
The legs, both within the workspace's own partition:

- lexical: the most telling terms of the question pick candidates by the index on terms; every candidate is scored by
  all terms, as the inner product of its stored weights with the question's IDFs.
- dense: the nearest vectors, by HNSW where the partition has one, else by reading all of them.

Documents are joined after the ordering, so a filter is looked at only until a leg is full, and a leg goes on past
whatever it rejects. Where the caller names a few documents or a small space, their segments are all read and scored
instead: no candidate is missed there. Of documents that texts name by their titles the best segments are found.
"""

from functools import lru_cache
from typing import Literal

from tools.retrieval.partitions import partition_name, vectors_name
from tools.retrieval.prepared import Statement, numbered
from tools.retrieval.rows import LASTING, NOT_EXPIRED, SEGMENT_COLUMNS
from tools.retrieval.scoring import IDF_POWER, SCORE
from tools.terms import UNSPACED_TERM

# Looked up for one document after another, by primary key. OFFSET 0 keeps the planner from joining everything before
# anything is ordered, and num_nulls from the index that listings use, whose order is by date.
_SEEN = """EXISTS (
        SELECT 1 FROM documents AS d WHERE d.workspace = {workspace} AND d.document_id = c.document_id
        AND num_nulls(d.deleted_at) = 1 AND (d.owner IS NULL OR d.owner = %(user)s) AND {lasting}
        AND (%(spaces)s::text[] IS NULL OR d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s)) OFFSET 0
    )"""

# Read once: as a parameter it would be cast anew for every vector that it is compared with.
_VECTOR = """
vector AS MATERIALIZED (SELECT %(embedding)s::halfvec({dimension}) AS embedding),"""

_QUESTION = """
asked AS MATERIALIZED (
    SELECT a.term, a.weight, a.expected, l.segments, a.unspaced,
        coalesce(
            (SELECT segments FROM term_statistics AS t WHERE t.workspace = {workspace} AND t.term = a.term),
            (SELECT count(*) FROM {partition} WHERE terms @> ARRAY[a.term])
        ) AS df
    FROM unnest(%(terms)s::integer[], %(weights)s::float4[], %(expected)s::float4[], %(unspaced)s::boolean[])
        AS a (term, weight, expected, unspaced)
    JOIN library_statistics AS l ON l.workspace = {workspace}
), alike AS (
    SELECT *, CASE WHEN unspaced THEN greatest(df, coalesce(
            (SELECT segments FROM term_statistics WHERE workspace = {workspace} AND term = {unspaced_term}),
            (SELECT nullif(count(*), 0) FROM {partition} WHERE terms @> ARRAY[{unspaced_term}]),
            segments
        )) ELSE segments END AS n
    FROM asked
), weighed AS MATERIALIZED (
    SELECT term, expected, df, weight * ln(1 + (n - df + 0.5) / (df + 0.5)) ^ {idf_power}::float8 AS idf FROM alike
), ranked AS MATERIALIZED (
    SELECT *, sum(df) OVER telling AS reach, row_number() OVER telling AS place,
        sum(idf) OVER telling - idf AS told, sum(idf) OVER (PARTITION BY df > 0) AS total
    FROM weighed WINDOW telling AS (PARTITION BY df > 0 ORDER BY idf DESC, term ROWS UNBOUNDED PRECEDING)
), question AS MATERIALIZED (
    SELECT
        ('{{' || string_agg(term || ':' || idf::float4, ',') FILTER (WHERE df > 0) || '}}/1000000000')::sparsevec
            AS vector,
        array_agg(term) FILTER (
            WHERE df > 0 AND (place <= 2 OR reach <= %(budget)s AND told < {told} * total)
        ) AS picks,
        sum(expected * idf) AS attainable
    FROM ranked
)"""

_LEXICAL = (
    """,
lexical AS MATERIALIZED (
    SELECT c.document_id, c.segment_index
    FROM (
        SELECT document_id, segment_index FROM {partition} WHERE terms && (SELECT picks FROM question)
        ORDER BY weights <#> (SELECT vector FROM question) OFFSET 0
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
            FROM (SELECT document_id, embedding FROM {vectors} LIMIT {sample}) AS sample ORDER BY distance
        ) AS c
        WHERE """
    + _SEEN
    + """
        LIMIT {leg}
    ) AS c HAVING count(*) = {leg}
), dense AS MATERIALIZED (
    SELECT c.document_id, c.segment_index
    FROM (
        SELECT document_id, segment_index FROM {vectors}
        WHERE (embedding <=> (SELECT embedding FROM vector)) <= coalesce((SELECT distance FROM bound), 'Infinity')
        ORDER BY embedding::halfvec({dimension}) <=> (SELECT embedding FROM vector) LIMIT {near}
    ) AS c
    WHERE """
    + _SEEN
    + """
    LIMIT {leg}
)"""
)

_SCOPE = (
    """,
scope AS MATERIALIZED (
    SELECT s.document_id, s.segment_index, s.weights <#> q.vector AS lexical_distance, {distance} AS dense_distance
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
_WHOLE = (
    "SELECT document_id, segment_index FROM scope WHERE lexical_distance < 0 ORDER BY lexical_distance LIMIT {leg}",
    "SELECT document_id, segment_index FROM scope ORDER BY dense_distance LIMIT {leg}",
)
_BEST = (
    "SELECT DISTINCT ON (document_id) document_id, segment_index FROM scope"
    " ORDER BY document_id, lexical_distance, segment_index",
    "SELECT DISTINCT ON (document_id) document_id, segment_index FROM scope"
    " ORDER BY document_id, dense_distance, segment_index",
)

_RANKED = (
    """,
pool AS MATERIALIZED (
    SELECT s.document_id, s.segment_index, -(s.weights <#> q.vector) AS own, {similarity} AS similarity, q.attainable, (
        SELECT max(-(x.weights <#> q.vector)) FROM {partition} AS x WHERE x.workspace = {workspace}
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
SELECT {columns}, w.own, w.score
FROM widened AS w
CROSS JOIN LATERAL (
    SELECT * FROM {partition} AS s WHERE s.workspace = {workspace} AND s.document_id = w.document_id
    AND s.segment_index = w.segment_index LIMIT 1
) AS s
CROSS JOIN LATERAL (
    SELECT * FROM documents AS d WHERE d.workspace = {workspace} AND d.document_id = w.document_id LIMIT 1
) AS d
WHERE w.score >= %(min_score)s
ORDER BY w.score DESC, w.document_id, w.segment_index"""
)

_WITH_VECTOR = """JOIN {vectors} AS v ON v.workspace = {workspace}
        AND v.document_id = s.document_id AND v.segment_index = s.segment_index"""
Reach = Literal["library", "documents", "titles"]

NEIGHBOUR_DECAY = 0.9
# The nearest of any few hundred vectors bound the nearest of all; what lies beyond the bound need not be sorted, which
# takes as long as measuring.
SAMPLE = 500
TOLD = 0.9  # share of the question's weight that candidates are picked by; what holds only the rest ranks low
OPENING = 50  # segments of a document that is named by its title which are read; a title tells what it begins with
NEAR = 1000  # nearest vectors that are looked through for those that a filter lets pass


@lru_cache(maxsize=4096)
def search_statement(workspace: int, dimension: int, *, leg: int, dense: bool, reach: Reach) -> Statement:
    """Build the statement for a workspace's partition, with or without the dense leg.

    ``leg`` is how many candidates each leg brings. Reach ``documents`` reads every segment of the documents that are
    named and pass the filters, those with a time limit too; ``titles`` brings of each its best segments alone, of the
    first ``OPENING``. Parameters: terms, weights, expected, budget, user, spaces, document_ids, coverage, top_k,
    min_score, expand, and with the dense leg embedding. Columns: those of a segment, the score that a segment was
    found with or None for a neighbour, and the score that orders.
    """
    legs = "SELECT document_id, segment_index FROM lexical"
    distance = similarity = "0::float8"
    with_vector = ""
    if dense:
        legs += " UNION SELECT document_id, segment_index FROM dense"
        with_vector = _WITH_VECTOR
        distance = "v.embedding <=> (SELECT embedding FROM vector)"
        similarity = f"coalesce(nullif(1 - ({distance}), 'NaN'), 0)"  # a zero vector has no direction
    question = _VECTOR + _QUESTION if dense else _QUESTION
    found = [_SCOPE] if reach != "library" else [_LEXICAL, _DENSE] if dense else [_LEXICAL]
    statement = "".join(["WITH", question, *found, _RANKED])
    lexical, nearest = _BEST if reach == "titles" else _WHOLE
    for slot, text in (
        ("{similarity}", similarity),
        ("{distance}", distance),
        ("{legs}", legs),
        ("{lexical}", lexical),
        ("{nearest}", nearest),
        ("{opening}", f"AND s.segment_index < {OPENING}" if reach == "titles" else ""),
        ("{with_vector}", with_vector),
    ):
        statement = statement.replace(slot, text)
    statement = statement.format(
        partition=partition_name(workspace),
        vectors=vectors_name(workspace),
        near=NEAR,
        sample=SAMPLE,
        told=TOLD,
        workspace=workspace,
        lasting=LASTING if reach == "library" else NOT_EXPIRED,
        dimension=dimension,
        leg=leg,
        decay=NEIGHBOUR_DECAY,
        idf_power=IDF_POWER,
        unspaced_term=UNSPACED_TERM,
        columns=SEGMENT_COLUMNS,
    )
    return numbered(statement)
