"""Find the documents whose titles a question, or what was found for it, names."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from uuid import UUID

from graph.ports import SearchQuery
from tools.database import Connection
from tools.retrieval.names import Names, bare_title
from tools.retrieval.prepared import Statement, numbered
from tools.retrieval.rows import LASTING, NOT_EXPIRED
from tools.retrieval.scope import as_uuid
from tools.terms import weigh_question

NAMESAKES = 3  # documents of one title; where more bear it, as "Introduction", it names none of them
MOST_NAMED = 20  # documents that one search follows
SHARED_BEGINNING = 20  # titles looked at that begin alike, in scripts without spaces
ORDINARY = 0.01  # share of segments; a title all of whose words are in more of them tells too little


@dataclass(frozen=True, slots=True)
class Naming:
    """A text that may name documents: the question, or a hit with its document. ``score`` is how good it is itself."""

    names: Names
    score: float
    document_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A document that is named.

    ``share`` is 1 where a text names it alone, 1/n where n documents are named. ``ceiling`` is the score of the best
    text that names it.
    """

    document_id: UUID
    title: str
    share: float
    ceiling: float


async def find_named(conn: Connection, workspace: int, query: SearchQuery, namings: Sequence[Naming]) -> list[Named]:
    """Find the documents named in some texts, in the order of the texts, within what the query may search.

    A text does not name its own document. Raises DatabaseUnavailable.
    """
    within = [identifier for identifier in map(as_uuid, query.document_ids) if identifier is not None]
    names = list(dict.fromkeys(name for naming in namings for name in naming.names.exact))
    beginnings = list(dict.fromkeys(start for naming in namings for start in naming.names.beginnings))
    if not names and not beginnings:
        return []
    statement = _statement(within_documents=bool(query.document_ids), by_beginning=bool(beginnings))
    parameters = {
        "workspace": workspace,
        "user": query.identity.user,
        "spaces": list(query.spaces) or None,
        "document_ids": within if query.document_ids else None,
        "names": "\n".join(names),  # no name holds a line break, and one text is sent faster than an array
        "beginnings": "\n".join(beginnings),
    }
    rows = await statement.execute(conn, parameters)
    bearers = Counter(bare_title(title).lower() for _, title in rows)
    titles = {identifier: title for identifier, title in rows if bearers[bare_title(title).lower()] <= NAMESAKES}
    named: dict[UUID, Named] = {}
    for naming in namings:
        held = [each for each, title in titles.items() if each != naming.document_id and naming.names.hold(title)]
        for identifier in held:
            known = named.get(identifier, Named(identifier, titles[identifier], 0.0, 0.0))
            share, ceiling = max(known.share, 1 / len(held)), max(known.ceiling, naming.score)
            named[identifier] = replace(known, share=share, ceiling=ceiling)
    return list(named.values())[:MOST_NAMED]


async def common_terms(conn: Connection, workspace: int, named: Sequence[Named]) -> set[int]:
    """Give those of the titles' terms that stand in more than the share ``ORDINARY`` of the library's segments."""
    terms = sorted({term for each in named for term in title_terms(each.title)})
    found = await conn.execute(_COMMON, {"workspace": workspace, "terms": terms, "share": ORDINARY}, prepare=True)
    return {term for (term,) in await found.fetchall()}


def title_terms(title: str) -> list[int]:
    """Give the ids of the words of a title; of a script without spaces, of its bigrams."""
    terms = weigh_question(bare_title(title))
    ids: list[int] = terms.ids[terms.expected > 0].tolist()
    return ids


# num_nulls keeps the planner from the index that listings use, whose order is by date: the index on titles is to tell.
_SEEN = """num_nulls(d.deleted_at) = 1 AND (d.owner IS NULL OR d.owner = %(user)s) AND {lasting}
    AND (%(spaces)s::text[] IS NULL OR d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s))
    AND (%(document_ids)s::uuid[] IS NULL OR d.document_id = ANY(%(document_ids)s))"""
# Name by name, by the index: told to look for any of an array that it doesn't know, the planner reads all documents.
_BY_NAME = f"""
SELECT d.document_id, d.title
FROM (SELECT DISTINCT unnest(string_to_array(lower(%(names)s::text), chr(10))) AS name) AS n CROSS JOIN LATERAL (
    SELECT * FROM documents AS d WHERE d.workspace = %(workspace)s AND d.title_key = n.name AND {_SEEN} OFFSET 0
) AS d"""
_BY_BEGINNING = f"""
UNION
SELECT d.document_id, d.title
FROM unnest(string_to_array(lower(%(beginnings)s::text), chr(10))) AS b (beginning) CROSS JOIN LATERAL (
    SELECT * FROM documents AS d WHERE d.workspace = %(workspace)s AND {_SEEN}
        AND d.title_key >= b.beginning AND d.title_key < b.beginning || chr(1114111)
    LIMIT {SHARED_BEGINNING}
) AS d"""


@cache
def _statement(*, within_documents: bool, by_beginning: bool) -> Statement:
    text = _BY_NAME + _BY_BEGINNING if by_beginning else _BY_NAME
    return numbered(text.format(lasting=NOT_EXPIRED if within_documents else LASTING))


_COMMON = """
SELECT t.term FROM term_statistics AS t JOIN library_statistics AS l USING (workspace)
WHERE t.workspace = %(workspace)s AND t.term = ANY(%(terms)s::integer[]) AND t.segments > %(share)s * l.segments
"""
