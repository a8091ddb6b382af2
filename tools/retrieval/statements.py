"""The SQL of search: one statement that finds, scores, fuses, widens and reads.

Built of fixed parts, by partition and by which legs take part; everything that a caller says is a bound parameter.
The legs, both within the workspace's own partition:

- lexical: the rarest terms of the question pick candidates by the index on terms; every candidate is scored by all
  terms, as the inner product of its stored weights with the question's IDFs.
- dense: the nearest vectors, by HNSW where the partition has one, else by reading all.

Documents are joined after the ordering, so a filter is looked at only until a leg is full, and a leg goes on past
whatever it rejects. Where the caller names a few documents or a small space (``scoped``), their segments are all read
and scored instead: no candidate is missed there.
"""

from functools import lru_cache

from tools.retrieval.partitions import partition_name
from tools.retrieval.rows import SEGMENT_COLUMNS, VISIBLE
from tools.retrieval.scoring import CALIBRATED, FUSED

LEG = 50  # candidates that each leg brings to the fusion

_VISIBLE = (
    "d.workspace = {workspace} AND "
    + VISIBLE
    + """ AND (%(spaces)s::text[] IS NULL OR d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s))
        AND (%(document_ids)s::uuid[] IS NULL OR d.document_id = ANY(%(document_ids)s))"""
)

_QUESTION = """
asked AS MATERIALIZED (
    SELECT a.term, a.weight, a.word, l.segments AS n,
        coalesce(t.segments, (SELECT count(*) FROM {partition} WHERE terms @> ARRAY[a.term])) AS df
    FROM unnest(%(terms)s::integer[], %(weights)s::float4[], %(words)s::boolean[]) AS a (term, weight, word)
    JOIN library_statistics AS l ON l.workspace = {workspace}
    LEFT JOIN term_statistics AS t ON t.workspace = {workspace} AND t.term = a.term
), weighed AS MATERIALIZED (
    SELECT term, word, df, weight * ln(1 + (n - df + 0.5) / (df + 0.5)) AS idf,
        sum(df) OVER rarest AS reach, row_number() OVER rarest AS rank
    FROM asked WINDOW rarest AS (PARTITION BY df > 0 ORDER BY df, term ROWS UNBOUNDED PRECEDING)
), question AS MATERIALIZED (
    SELECT
        ('{{' || string_agg(term || ':' || idf::float4, ',') FILTER (WHERE df > 0) || '}}/1000000000')::sparsevec
            AS vector,
        array_agg(term) FILTER (WHERE df > 0 AND (reach <= %(budget)s OR rank <= 2)) AS picks,
        coalesce(sum(idf) FILTER (WHERE word), 0) AS attainable,
        coalesce(bool_or(reach > %(budget)s AND rank > 2) FILTER (WHERE df > 0), false) AS pruned
    FROM weighed
)"""

_LEXICAL = (
    """,
lexical AS MATERIALIZED (
    SELECT c.document_id, c.segment_index
    FROM (
        SELECT document_id, segment_index, weights <#> (SELECT vector FROM question) AS distance
        FROM {partition} WHERE terms && (SELECT picks FROM question)
        ORDER BY distance OFFSET 0
    ) AS c
    JOIN documents AS d ON d.document_id = c.document_id
    WHERE """
    + _VISIBLE
    + """
    ORDER BY c.distance LIMIT {leg}
)"""
)

_DENSE = (
    """,
dense AS MATERIALIZED (
    SELECT s.document_id, s.segment_index
    FROM {partition} AS s JOIN documents AS d ON d.document_id = s.document_id
    WHERE """
    + _VISIBLE
    + """
    ORDER BY s.embedding::halfvec({dimension}) <=> %(embedding)s::halfvec({dimension}) LIMIT {leg}
)"""
)

_SCOPED_LEXICAL = (
    """,
lexical AS MATERIALIZED (
    SELECT s.document_id, s.segment_index
    FROM documents AS d JOIN {partition} AS s ON s.workspace = {workspace} AND s.document_id = d.document_id
    WHERE """
    + _VISIBLE
    + """ AND s.weights <#> (SELECT vector FROM question) < 0
    ORDER BY s.weights <#> (SELECT vector FROM question) LIMIT {leg}
)"""
)

_SCOPED_DENSE = (
    """,
dense AS MATERIALIZED (
    SELECT s.document_id, s.segment_index
    FROM documents AS d JOIN {partition} AS s ON s.workspace = {workspace} AND s.document_id = d.document_id
    WHERE """
    + _VISIBLE
    + """
    ORDER BY (s.embedding <=> %(embedding)s::halfvec({dimension})) + 0 LIMIT {leg}
)"""
)

_RANKED = (
    """,
pool AS MATERIALIZED (
    SELECT s.document_id, s.segment_index, -(s.weights <#> q.vector) AS lexical, {similarity} AS similarity,
        q.attainable
    FROM ({legs}) AS found
    JOIN {partition} AS s USING (document_id, segment_index) CROSS JOIN question AS q
    WHERE s.workspace = {workspace}
), fused AS (
    SELECT document_id, segment_index, """
    + CALIBRATED
    + """ AS relevance, """
    + FUSED
    + """ AS rank_score
    FROM pool
), ranked AS (
    SELECT document_id, segment_index, min(relevance) OVER best AS score, row_number() OVER best AS place
    FROM fused
    WINDOW best AS (ORDER BY rank_score DESC, document_id, segment_index ROWS UNBOUNDED PRECEDING)
), top AS MATERIALIZED (
    SELECT * FROM ranked WHERE place <= %(top_k)s AND score >= %(min_score)s
), widened AS (
    SELECT document_id, near AS segment_index, max(score * {decay}::float8 ^ abs(near - segment_index)) AS score,
        min(place + 0.4 * sign(abs(near - segment_index))) AS place
    FROM top, generate_series(segment_index - %(expand)s::integer, segment_index + %(expand)s::integer) AS near
    GROUP BY document_id, near
)
SELECT {columns}, w.score
FROM widened AS w
JOIN {partition} AS s ON s.workspace = {workspace} AND s.document_id = w.document_id
    AND s.segment_index = w.segment_index
JOIN documents AS d ON d.workspace = {workspace} AND d.document_id = w.document_id
WHERE w.score >= %(min_score)s
ORDER BY w.score DESC, w.place"""
)

NEIGHBOUR_DECAY = 0.9


@lru_cache(maxsize=4096)
def search_statement(workspace: int, dimension: int, *, dense: bool, scoped: bool) -> str:
    """Build the statement for a workspace's partition, with or without the dense leg.

    ``scoped`` reads every segment of the documents that pass the filters. Parameters: terms, weights, words, budget,
    user, spaces, document_ids, coverage, top_k, min_score, expand, and with the dense leg embedding.
    """
    legs = "SELECT document_id, segment_index FROM lexical"
    parts = ["WITH", _QUESTION, _SCOPED_LEXICAL if scoped else _LEXICAL]
    similarity = "0::float8"
    if dense:
        legs += " UNION SELECT document_id, segment_index FROM dense"
        parts.append(_SCOPED_DENSE if scoped else _DENSE)
        # A zero vector has no direction, and its distance is NaN.
        similarity = "coalesce(nullif(1 - (s.embedding <=> %(embedding)s::halfvec({dimension})), 'NaN'), 0)"
    statement = "".join([*parts, _RANKED]).replace("{similarity}", similarity).replace("{legs}", legs)
    return statement.format(
        partition=partition_name(workspace),
        workspace=workspace,
        dimension=dimension,
        leg=LEG,
        decay=NEIGHBOUR_DECAY,
        columns=SEGMENT_COLUMNS,
    )
