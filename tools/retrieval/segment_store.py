"""Read segments and whole documents by id, each segment once in a run."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import groupby
from typing import Any
from weakref import WeakValueDictionary

from psycopg import sql

from graph.evidence import Identity, Page, Segment
from graph.ports import Resources, SearchQuery, SearchResult
from tools.retrieval.scope import SEGMENT_COLUMNS, VISIBLE, as_array, as_segment, as_uuid, reading_as
from tools.storage.database import Connection, Database
from tools.storage.partitions import Place
from tools.storage.tenants import Workspaces


class SegmentStore:
    """Reads what is stored, within an identity's reach."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Read segments within an identity's reach, in the order asked. Raises NotFound, DatabaseUnavailable."""
        rows = await self._read(_SEGMENTS, identity, _wanted(segment_ids))
        return [as_segment(row) for row in rows]

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        """Read whole documents as ``read_segments`` does segments. Raises NotFound, DatabaseUnavailable."""
        wanted = [uuid for uuid in map(as_uuid, document_ids) if uuid is not None]
        rows = await self._read(_PAGES, identity, {"documents": wanted})
        return [
            Page(document_id, segments[0].title, segments)
            for document_id, group in groupby(map(as_segment, rows), key=lambda segment: segment.document_id)
            for segments in [tuple(group)]
        ]

    async def fingerprints(self, groups: Sequence[Sequence[str]], identity: Identity) -> list[bytes]:
        """Return a hash of what each group of segments says, and of which of them are in the identity's reach.

        That of a group of which nothing is in reach is empty. Raises NotFound for an unknown workspace,
        DatabaseUnavailable.
        """
        return _by_group(groups, await self._read(_FINGERPRINTS, identity, _grouped(groups)))

    async def read_cited(
        self, groups: Sequence[Sequence[str]], identity: Identity
    ) -> tuple[list[bytes], list[Segment]]:
        """Return groups' fingerprints, and their segments, as new or newer. Raises NotFound, DatabaseUnavailable."""
        segment_ids = list(dict.fromkeys(segment_id for group in groups for segment_id in group))
        # One after the other from one server: what changes in between has another fingerprint the next time.
        hashes, rows = await self._read_all(
            identity, [(_FINGERPRINTS, _grouped(groups)), (_SEGMENTS, _wanted(segment_ids))]
        )
        return _by_group(groups, hashes), [as_segment(row) for row in rows]

    async def _read(self, statement: str, identity: Identity, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        [rows] = await self._read_all(identity, [(statement, parameters)])
        return rows

    async def _read_all(
        self, identity: Identity, statements: Sequence[tuple[str, dict[str, Any]]]
    ) -> list[list[tuple[Any, ...]]]:
        async def read_on(conn: Connection) -> list[list[tuple[Any, ...]]]:
            async def read_from(place: Place) -> list[list[tuple[Any, ...]]]:
                found, tables = [], place.read
                async with conn.cursor(binary=True) as rows:
                    for statement, parameters in statements:
                        row = {"workspace": place.workspace, **parameters, **reading_as(identity)}
                        text = statement.format(partition=tables.segments, workspace=tables.workspace, here=tables.here)
                        found.append(await (await rows.execute(sql.SQL(text), row)).fetchall())
                return found

            return await self._workspaces.read(conn, identity.workspace, read_from)

        return await self._database.read(read_on)


def _wanted(segment_ids: Sequence[str]) -> dict[str, Any]:
    wanted = [key for key in map(_key, segment_ids) if key is not None]
    return {"documents": as_array(key[0] for key in wanted), "indices": as_array(key[1] for key in wanted)}


def _grouped(groups: Sequence[Sequence[str]]) -> dict[str, Any]:
    numbered = [(str(at), segment_id) for at, group in enumerate(groups) for segment_id in group]
    known = [at for at, segment_id in numbered if _key(segment_id) is not None]
    return {**_wanted([segment_id for _, segment_id in numbered]), "groups": as_array(known)}


def _by_group(groups: Sequence[Sequence[str]], rows: Sequence[tuple[int, bytes]]) -> list[bytes]:
    found = dict(rows)
    return [found.get(at, b"") for at in range(len(groups))]


@lru_cache(4096)
def _key(segment_id: str) -> tuple[str, str] | None:
    """Return the document's id and the index of a segment as PostgreSQL reads them; None if it can't be one's id."""
    document_id, _, index = segment_id.rpartition(":")
    uuid = as_uuid(document_id)
    return (str(uuid), index) if uuid is not None and index.isascii() and index.isdigit() and len(index) < 10 else None


_FROM = (
    " JOIN documents AS d ON d.workspace = {workspace} AND d.document_id = w.document_id AND "
    + VISIBLE
    + " JOIN {partition} AS s ON s.workspace = {workspace} AND s.document_id = w.document_id"
)
_SEGMENTS = (
    f"SELECT {SEGMENT_COLUMNS}"
    " FROM unnest(%(documents)s::uuid[], %(indices)s::integer[]) WITH ORDINALITY AS w (document_id, index, place)"
    + _FROM
    + " AND s.segment_index = w.index WHERE {here} ORDER BY w.place"
)
# All that freshness depends on. The text's own hash is what nobody can forge; the others tell of rows written anew.
_FINGERPRINTS = (
    "SELECT w.place, sha256(string_agg(concat_ws(' ', w.document_id, s.segment_index, s.start_offset, s.end_offset,"
    " d.content_hash, hashtextextended(s.body, 0), jsonb_hash_extended(s.structure, 0)), ','"
    " ORDER BY w.document_id, w.index)::bytea)"
    " FROM unnest(%(documents)s::uuid[], %(indices)s::integer[], %(groups)s::integer[])"
    " AS w (document_id, index, place)" + _FROM + " AND s.segment_index = w.index WHERE {here} GROUP BY w.place"
)
_PAGES = (
    f"SELECT {SEGMENT_COLUMNS}"
    " FROM unnest(%(documents)s::uuid[]) WITH ORDINALITY AS w (document_id, place)"
    + _FROM
    + " WHERE {here} ORDER BY w.place, s.segment_index"
)


RUN_RESOURCES_KEY = "citewell_resources"  # in a run's configurable: its resources, kept from one step to the next


@dataclass(frozen=True, slots=True)
class RunTexts:
    """The ports of a run that return segments. Each identity sees only what storage returned for it.

    What was asked for and is not stored, such as a neighbour of a document's last segment, is known as None.
    ``session_id`` is the run's session, "" outside of any.
    """

    live: Resources
    session_id: str = ""
    _known: dict[tuple[Identity, str], Segment | None] = field(default_factory=dict)

    async def search(self, query: SearchQuery) -> SearchResult:
        """Find segments; see ``graph.ports.SegmentSearcher``."""
        found = await self.live.searcher.search(query)
        self._keep((hit.segment for hit in found.hits), query.identity)
        return found

    async def search_web(
        self, query: str, identity: Identity, *, top_k: int, min_score: float, seconds: float | None
    ) -> SearchResult:
        """Search the web; see ``graph.ports.WebSearcher``."""
        assert self.live.web is not None
        found = await self.live.web.search_web(query, identity, top_k=top_k, min_score=min_score, seconds=seconds)
        self._keep((hit.segment for hit in found.hits), identity)
        return found

    async def find_passage(
        self, text: str, document_ids: Sequence[str], identity: Identity, *, session_id: str = ""
    ) -> list[Segment]:
        """Find a marked passage; see ``graph.ports.PassageFinder``."""
        assert self.live.passages is not None
        session_id = session_id or self.session_id
        found = await self.live.passages.find_passage(text, document_ids, identity, session_id=session_id)
        self._keep(found, identity)
        return found

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        """Read whole documents; see ``graph.ports.SegmentReader``."""
        pages = await self.live.reader.read_pages(document_ids, identity)
        self._keep((segment for page in pages for segment in page.segments), identity)
        return pages

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Return segments in the order asked, and read from storage only those that the run has not had yet."""
        unread = [segment_id for segment_id in segment_ids if (identity, segment_id) not in self._known]
        if unread:
            self._keep(await self.live.reader.read_segments(unread, identity), identity)
            for segment_id in unread:
                self._known.setdefault((identity, segment_id), None)
        found = (self._known.get((identity, segment_id)) for segment_id in segment_ids)
        return [segment for segment in found if segment is not None]

    def let_go(self, segment_ids: Collection[str]) -> None:
        """Forget segments that no step is to read any more; one that is read after all is read from storage again."""
        for key in [key for key in self._known if key[1] in segment_ids]:
            del self._known[key]

    def _keep(self, segments: Iterable[Segment], identity: Identity) -> None:
        """Remember segments; one that the run has already had stays as it was, so that all its steps see one text."""
        for segment in segments:
            key = identity, segment.segment_id
            if self._known.get(key) is None:
                self._known[key] = _shared(segment)


_HELD: WeakValueDictionary[str, Segment] = WeakValueDictionary()  # by segment id, those of all runs of this process


def _shared(segment: Segment) -> Segment:
    """Return the equal segment that another run holds, so that runs that read the same hold it once; else this one."""
    held = _HELD.get(segment.segment_id)
    if held == segment:
        return held
    _HELD[segment.segment_id] = segment
    return segment


def resources_of_run(live: Resources, texts: RunTexts | None = None) -> Resources:
    """Return the resources of one run, which remember its texts and hold one family for each model that it names."""
    texts = texts or RunTexts(live)
    families: Callable[..., Any] = cache(live.families)
    return replace(
        live,
        searcher=texts,
        reader=texts,
        families=families,
        passages=None if live.passages is None else texts,
        web=None if live.web is None else texts,
    )
