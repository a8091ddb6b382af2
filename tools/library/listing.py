"""Answer questions about the library itself from its catalogue: which documents there are, where, and since when."""

from collections.abc import Sequence
from typing import Any

from graph.evidence import Identity, LibraryQuestion
from graph.ports import ListedDocument, Listing, SearchQuery, SegmentSearcher
from graph.rows import Turn
from text.language import language, stop_words
from text.normal_forms import fold_case
from text.words import folded_words, is_indexed_by_bigrams
from tools.library.document_filters import containing
from tools.retrieval.scope import LASTING, VISIBLE, reading_as
from tools.rules.library_questions import after_listing, library_question
from tools.storage.database import Connection, Database
from tools.storage.tenants import Workspaces

MOST_WORDS = 8  # of a name that titles are searched for
MENTIONING = 100  # segments that are looked through for what a document mentions
_PATH = "coalesce(d.metadata->>'file_path', '')"
_NAMES = f"concat_ws(' ', d.title, {_PATH}, d.slug, d.url)"
_LIST = f"""
SELECT d.document_id::text, d.title, {_PATH}, coalesce(d.url, ''), coalesce(d.space_slug, ''),
       d.created_at, d.updated_at, coalesce(d.metadata->>'author', ''), d.page_count, d.original_size, count(*) OVER ()
FROM documents AS d
WHERE d.workspace = %(workspace)s AND {VISIBLE} AND {LASTING}
  AND (%(spaces)s::text[] IS NULL OR d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s))
  AND (%(media_type)s::text IS NULL OR d.media_type = %(media_type)s)
  AND (%(since)s::date IS NULL OR d.updated_at >= (%(since)s::date)::timestamp AT TIME ZONE 'UTC')
  AND (%(until)s::date IS NULL OR d.updated_at < (%(until)s::date + 1)::timestamp AT TIME ZONE 'UTC')
  AND (%(ids)s::uuid[] IS NULL OR d.document_id = ANY(%(ids)s::uuid[]))
  AND (%(words)s::text[] IS NULL OR {_NAMES} ILIKE ALL (%(words)s))
  AND (%(file)s::text IS NULL OR lower(d.title) = %(file)s OR ({_PATH} = '' AND lower(d.title) = %(stem)s)
       OR right(lower('/' || {_PATH}), length(%(file)s) + 1) = '/' || %(file)s
       OR right(lower(coalesce(d.url, '')), length(%(file)s) + 1) = '/' || %(file)s)
ORDER BY d.updated_at DESC, d.document_id LIMIT %(most)s
"""


class LibraryCatalogue:
    """The ``Catalogue`` of a deployment: what an identity may read, without what runs brought for a limited time."""

    def __init__(self, database: Database, workspaces: Workspaces, searcher: SegmentSearcher) -> None:
        self._database = database
        self._workspaces = workspaces
        self._searcher = searcher

    async def recognise(
        self,
        question: str,
        turns: Sequence[Turn],
        identity: Identity,
        *,
        spaces: Sequence[str] = (),
        alone: bool = True,
    ) -> LibraryQuestion | None:
        """Return what a question asks about the library; see ``graph.ports.Catalogue``."""
        asked = library_question(question, after_listing=after_listing(turns), alone=alone)
        if asked is None or asked["asks"] not in ("find", "mention"):
            return asked
        return asked if (await self.list(asked, identity, spaces=spaces, most=1)).total else None

    async def list(
        self, asked: LibraryQuestion, identity: Identity, *, spaces: Sequence[str] = (), most: int = 20
    ) -> Listing:
        """List the documents asked for, newest first, ``most`` at most.

        Those that mention something are found among the segments that a search for it brings. Raises NotFound for an
        unknown workspace, DatabaseUnavailable.
        """
        if asked["asks"] == "edit" and not asked["is_file"]:
            return Listing((), 0)
        mentioning, at_least = None, False
        if asked["asks"] == "mention":
            mentioning, at_least = await self._mentioning(asked["name"], identity, spaces)
        in_titles = asked["asks"] == "find" and not asked["is_file"]
        name = asked["name"].casefold().removeprefix("./").lstrip("/")
        row: dict[str, Any] = {
            "workspace": await self._workspaces.number(identity.workspace),
            **reading_as(identity),
            "spaces": list(spaces) or None,
            "media_type": asked["media_type"] or None,
            "since": asked["since"] or None,
            "until": asked["until"] or None,
            "ids": None if mentioning is None else [*mentioning],
            "words": [containing(word) for word in _words(name)] if name and in_titles else None,
            "file": name if asked["is_file"] and name else None,
            "stem": name.rpartition("/")[2].rpartition(".")[0],
            "most": most,
        }

        async def read(connection: Connection) -> list[Any]:
            return await (await connection.execute(_LIST, row)).fetchall()

        found = await self._database.read(read)
        documents = tuple(
            ListedDocument(document_id, title, path or url or space, *known)
            for document_id, title, path, url, space, *known, _ in found
        )
        return Listing(documents, found[0][-1] if found else 0, at_least)

    async def _mentioning(self, name: str, identity: Identity, spaces: Sequence[str]) -> tuple[Sequence[str], bool]:
        """Return the documents of which a segment has the words of a name, and whether there may be more of them."""
        query = SearchQuery(name, identity, top_k=MENTIONING, min_score=0.0, spaces=tuple(spaces), expand=0)
        words = _words(fold_case(name))
        hits = (await self._searcher.search(query)).hits
        found = dict.fromkeys(hit.segment.document_id for hit in hits if _holds(hit.segment.text, words))
        return tuple(found), len(hits) >= MENTIONING


def _holds(text: str, words: Sequence[str]) -> bool:
    folded, known = folded_words(text)
    return all(word in folded if is_indexed_by_bigrams(word) else word in known for word in words)


def _words(name: str) -> list[str]:
    """Return the words of a name that a title has to hold, without those that every question has."""
    words = name.split()
    common = stop_words(language(name))
    return ([word for word in words if word not in common] or words or [name])[:MOST_WORDS]
