"""The second hop of a search: to documents whose titles the question, or the best hits, name.

A question about two things is often answered by a document that shares no word with it, and that the first document
found names. Names are followed to titles exactly, so a search that names nothing costs one look-up in an index.
docs/adr/0016-hops-through-titles.md says what it brings.

A title counts as named only where it is written as the title is, so that ordinary words name nothing: "Security" in the
middle of a sentence does, "security" or the first word of a sentence does not. What a title has in brackets at its end,
as in "Mercury (planet)", is left out, as it is in running text.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from uuid import UUID

from answers.fusion import join_hits
from graph.evidence import Hit
from graph.ports import SearchQuery
from text.normal_forms import fold_width
from text.scripts import INDEXED_BY_BIGRAMS
from text.terms import weigh_question
from tools.retrieval.scope import LASTING, NOT_EXPIRED, READABLE, as_uuid, reading_as
from tools.retrieval.search_sql import NAMED, Statement, numbered, with_odds
from tools.storage.database import Connection

MOST_WORDS = 7
SHORT = 3  # words; a longer name ends in a word with a capital or a figure
MOST_NAMES = 400  # of one text, so that no text makes the look-up slow
BEGINNING = 3  # characters of a script without spaces, the shortest title there that counts without quotation marks

_EDGES = ".,;:!?\"'()[]{}<>«»“”‘’*_`–—-"
_QUOTED = re.compile(r"[《〈「『【“\"]([^《》〈〉「」『』【】“”\"\n]{2,100})[》〉」』】”\"]")
_QUALIFIER = re.compile(r"\s*\([^()]*\)$")
_UNSPACED_RUN = re.compile(f"[{INDEXED_BY_BIGRAMS}]{{{BEGINNING},}}")
_STARTS_UNSPACED = re.compile(f"[{INDEXED_BY_BIGRAMS}]")
_LONGEST_ABBREVIATION = 3  # "J.", "v.", "St.": their full stop ends no sentence


@dataclass(frozen=True, slots=True)
class Names:
    """The possible names in a text.

    ``exact`` are names as they are written. ``beginnings`` are the first characters of what may be a name in a script
    without spaces, where ``text`` shows how far it reaches. ``any_case`` is for a question without a single
    capital.
    """

    text: str
    exact: tuple[str, ...]
    beginnings: tuple[str, ...]
    any_case: bool = False

    def hold(self, title: str) -> bool:
        """Whether a title is among the names, letter for letter."""
        name = bare_title(title)
        if self.any_case:
            return name.lower() in self.exact
        return name in self.exact or (
            len(name) >= BEGINNING and _STARTS_UNSPACED.match(name) is not None and name in self.text
        )


def bare_title(title: str) -> str:
    """Return a title without what it has in brackets at its end, as ``documents.title_key`` does."""
    return _QUALIFIER.sub("", fold_width(title)).strip()


@lru_cache(maxsize=256)  # some 4 KB each: a library's best hits come up again and again
def find_names(text: str) -> Names:
    """Find what may be names in a passage, at most ``MOST_NAMES`` of each kind, in reading order."""
    text = fold_width(text.replace("\0", " "))
    found = dict.fromkeys(match[1].strip() for match in _QUOTED.finditer(text))
    for line in text.splitlines():
        if len(found) >= MOST_NAMES:
            break
        found.update(dict.fromkeys(_in_line(line)))
    return Names(text, tuple(found)[:MOST_NAMES], _beginnings(text))


def find_asked_names(question: str) -> Names:
    """Find what may be names in a question; typed without capitals it names by two words or more, in any case."""
    if not question.islower():
        return find_names(question)
    names = dict.fromkeys(name for name in _in_line(question.replace("\0", " "), any_case=True) if " " in name)
    return Names(question, tuple(names)[:MOST_NAMES], (), any_case=True)


def _beginnings(text: str) -> tuple[str, ...]:
    runs = (match[0] for match in _UNSPACED_RUN.finditer(text))
    found = dict.fromkeys(run[at : at + BEGINNING] for run in runs for at in range(len(run) - BEGINNING + 1))
    return tuple(found)[:MOST_NAMES]


def _in_line(line: str, *, any_case: bool = False) -> Iterator[str]:
    words = line.split()
    stands = [any_case or _stands_out(word) for word in words]
    closes = [_closes(word) for word in words]
    for place, word in enumerate(words):
        first = word.lstrip(_EDGES)
        if not first or not stands[place]:
            continue
        opens = place == 0 or closes[place - 1]
        by_position = opens and not any_case and first[1:] == first[1:].lower()
        if by_position and not any(stands[place + 1 : place + 2]):
            continue
        for last in range(place, min(place + MOST_WORDS, len(words))):
            if stands[last] or last < place + SHORT:
                for name in _readings(" ".join([first, *words[place + 1 : last + 1]])):
                    # A single word may be a name where it has a capital, and is more than an initial.
                    is_telling = len(name) > 1 and name != name.lower()
                    if " " in name or (is_telling and not by_position):
                        yield name
            if closes[last]:
                break


def _stands_out(word: str) -> bool:
    """Whether a word has a capital or a figure, or is of a script without capitals."""
    return word != word.lower() or word == word.upper()


def _readings(name: str) -> Iterator[str]:
    """Return a name as it is written, without the punctuation at its end, and without a possessive."""
    plain = name.rstrip(_EDGES)
    if name[-1] in ".!?":
        yield name
    if plain:
        yield plain
        if plain[-2:] in ("'s", "’s"):
            yield plain[:-2]


def _closes(word: str) -> bool:
    last = word.rstrip("\"'”’)]»")
    return last[-1:] in ("!", "?", ";", ":") or (last[-1:] == "." and len(last) > _LONGEST_ABBREVIATION)


NAMESAKES = 3  # documents of one title; where more bear it, as "Introduction", it names none of them
MOST_NAMED = 20  # documents that one search follows
SHARED_BEGINNING = 20  # titles looked at that begin alike, in scripts without spaces
ORDINARY = 0.01  # share of segments; a title all of whose words are in more of them tells too little


@dataclass(frozen=True, slots=True)
class TitleMentions:
    """A text that may name documents: the question, or a hit with its document. ``score`` is how good it is itself."""

    names: Names
    score: float
    document_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document that is named.

    ``share`` is 1 where a text names it alone, 1/n where n documents are named. ``ceiling`` is the score of the best
    text that names it.
    """

    document_id: UUID
    title: str
    share: float
    ceiling: float


async def find_named_documents(
    conn: Connection, workspace: int, query: SearchQuery, namings: Sequence[TitleMentions]
) -> list[NamedDocument]:
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
        **reading_as(query.identity),
        "spaces": list(query.spaces) or None,
        "document_ids": within if query.document_ids else None,
        "names": "\n".join(names),  # no name holds a line break, and one text is sent faster than an array
        "beginnings": "\n".join(beginnings),
    }
    rows = await statement.execute(conn, parameters)
    bearers = Counter(bare_title(title).lower() for _, title in rows)
    titles = {identifier: title for identifier, title in rows if bearers[bare_title(title).lower()] <= NAMESAKES}
    named: dict[UUID, NamedDocument] = {}
    for naming in namings:
        held = [each for each, title in titles.items() if each != naming.document_id and naming.names.hold(title)]
        for identifier in held:
            known = named.get(identifier, NamedDocument(identifier, titles[identifier], 0.0, 0.0))
            share, ceiling = max(known.share, 1 / len(held)), max(known.ceiling, naming.score)
            named[identifier] = replace(known, share=share, ceiling=ceiling)
    return list(named.values())[:MOST_NAMED]


async def common_terms(conn: Connection, workspace: int, named: Sequence[NamedDocument]) -> set[int]:
    """Return those of the titles' terms that occur in more than the share ``ORDINARY`` of the library's segments."""
    terms = sorted({term for each in named for term in title_terms(each.title)})
    found = await conn.execute(_COMMON, {"workspace": workspace, "terms": terms, "share": ORDINARY}, prepare=True)
    return {term for (term,) in await found.fetchall()}


def title_terms(title: str) -> list[int]:
    """Return the ids of the words of a title; of a script without spaces, of its bigrams."""
    terms = weigh_question(bare_title(title))
    ids: list[int] = terms.ids[terms.expected > 0].tolist()
    return ids


# num_nulls keeps the planner from the index that listings use, whose order is by date: the index on titles is to tell.
_SEEN = f"""num_nulls(d.deleted_at) = 1 AND {READABLE} AND {{lasting}}
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

FOLLOWED = 2  # documents whose best segment is searched for names

SearchDocuments = Callable[[list[UUID], float], Awaitable[list[Hit]]]


async def follow_titles(
    conn: Connection, workspace: int, query: SearchQuery, first: Sequence[Hit], search_documents: SearchDocuments
) -> Sequence[Hit]:
    """Let the documents that are named join what a search found.

    ``search_documents`` finds the best segments of some documents, from a least score on. What is named is scored as
    everything is, with its odds raised: ``NAMED`` times, or its share of that where a text names several. It does not
    rise above the text that names it, so the best hit stays the best.
    Raises DatabaseUnavailable.
    """
    if not first or query.top_k == 1 or len(query.document_ids) == 1:
        return first
    named = await find_named_documents(conn, workspace, query, list(_mentions(query, first)))
    if not named:
        return first
    common = await common_terms(conn, workspace, named)
    telling = {str(each.document_id): each for each in named if not common.issuperset(title_terms(each.title))}
    if not telling:
        return first
    document_ids = [each.document_id for each in telling.values()]
    found = await search_documents(document_ids, with_odds(query.min_score, 1 / NAMED))
    return join_hits([*first, *_raised(found, telling)], query)


def _mentions(query: SearchQuery, first: Sequence[Hit]) -> Iterator[TitleMentions]:
    yield TitleMentions(find_asked_names(query.text), first[0].score)
    seen: set[str] = set()
    for each in first:
        segment = each.segment
        if each.own_score > 0 and segment.document_id not in seen:
            seen.add(segment.document_id)
            yield TitleMentions(find_names(segment.text), each.own_score, UUID(segment.document_id))
        if len(seen) == FOLLOWED:
            return


def _raised(found: Sequence[Hit], telling: dict[str, NamedDocument]) -> Iterator[Hit]:
    """Raise the best segment of each document; its neighbours come along unchanged."""
    done: set[str] = set()
    for each in found:
        document_id = each.segment.document_id
        if each.own_score > 0 and document_id not in done:
            done.add(document_id)
            naming = telling[document_id]
            score = max(each.own_score, min(naming.ceiling, with_odds(each.own_score, max(1.0, NAMED * naming.share))))
            yield replace(each, score=score, own_score=score)
        else:
            yield replace(each, own_score=0.0)
