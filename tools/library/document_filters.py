"""Which documents a list shows, and in which order: the conditions, and what a document's file is called."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from text.normal_forms import compose
from tools.retrieval.scope import LASTING, VISIBLE, as_uuid, readable
from tools.retrieval.withholding import MARKED

Sort = Literal["changed", "title", "name", "type", "folder"]
Order = Literal["asc", "desc"]
MOST_FOLDERS = 1000  # of a summary
MOST_WORDS = 10  # of a query over names
_OF_DOCUMENT = f"""
p.workspace = %(workspace)s AND p.document_id = d.document_id AND {readable("s")}
"""
# Where the file is: in a source, else as it was called when it was sent.
_PATH = f"""
coalesce((SELECT min(p.path) FROM places AS p JOIN sources AS s USING (workspace, source_id) WHERE {_OF_DOCUMENT}),
         d.metadata ->> 'file_path', d.original_name, '')
"""
FILE_NAME = f"regexp_replace({_PATH}, '^.*/', '')"
FOLDER = f"regexp_replace({_PATH}, '/?[^/]*$', '')"
# What a reader marked is listed nowhere: it belongs to its session.
FILTERED = f"""
d.workspace = %(workspace)s AND {VISIBLE} AND NOT (d.source_type = '{MARKED}' AND d.expires_at IS NOT NULL)
AND (%(space)s::text IS NULL OR d.space_id = %(space)s OR d.space_slug = %(space)s)
AND (%(title)s::text IS NULL OR normalize(d.title) ILIKE %(title)s)
AND (%(ids)s::uuid[] IS NULL OR d.document_id = ANY(%(ids)s::uuid[]))
AND (%(collection)s::uuid IS NULL OR EXISTS (
     SELECT FROM collections AS c JOIN collection_documents AS m USING (workspace, collection_id)
     WHERE c.workspace = %(workspace)s AND c.collection_id = %(collection)s::uuid AND m.document_id = d.document_id
       AND (c.shared OR c.made_by = %(user)s)))
AND (%(source)s::uuid IS NULL AND %(path)s::text IS NULL OR EXISTS (
     SELECT FROM places AS p JOIN sources AS s USING (workspace, source_id)
     WHERE {_OF_DOCUMENT}
       AND (%(source)s::uuid IS NULL OR p.source_id = %(source)s::uuid)
       AND (%(path)s::text IS NULL OR p.path LIKE %(path)s)))
AND (NOT %(lasting)s OR {LASTING})
AND (%(media_types)s::text[] IS NULL OR d.media_type = ANY(%(media_types)s))
AND (%(words)s::text[] IS NULL OR normalize(concat_ws(' ', d.title, {_PATH}, d.slug, d.url)) ILIKE ALL (%(words)s))
AND (%(folder)s::text IS NULL OR {FOLDER} = %(folder)s)
AND (%(names)s::text[] IS NULL OR {FILE_NAME} = ANY(%(names)s))
"""
COUNT = f"SELECT count(*) FROM documents AS d WHERE {FILTERED}"
SUMMARY = f"""
WITH listed AS MATERIALIZED (
    SELECT d.document_id, d.media_type, {FOLDER} AS folder FROM documents AS d WHERE {FILTERED})
SELECT (SELECT count(*) FROM listed),
    (SELECT coalesce(json_agg(json_build_object('media_type', media_type, 'documents', documents)
                              ORDER BY documents DESC, media_type), '[]')
     FROM (SELECT media_type, count(*) AS documents FROM listed GROUP BY media_type) AS t),
    (SELECT coalesce(json_agg(json_build_object('folder', folder, 'documents', documents)
                              ORDER BY lower(folder), folder), '[]')
     FROM (SELECT folder, count(*) AS documents FROM listed GROUP BY folder
           ORDER BY lower(folder), folder LIMIT %(most)s) AS f),
    (SELECT count(DISTINCT folder) FROM listed),
    (SELECT coalesce(json_agg(json_build_object('source_id', source_id, 'kind', kind, 'location', location,
                                                'documents', documents) ORDER BY location, source_id), '[]')
     FROM (SELECT s.source_id, s.kind,
               CASE WHEN s.kind = 'folder' THEN regexp_replace(s.location, '^.*/', '') ELSE s.location END AS location,
               count(DISTINCT p.document_id) AS documents
           FROM sources AS s JOIN places AS p USING (workspace, source_id) JOIN listed USING (document_id)
           WHERE s.workspace = %(workspace)s AND {readable("s")} GROUP BY s.source_id, s.kind, s.location) AS o)
"""
_SORTED_BY: dict[Sort, tuple[str, ...]] = {
    "changed": ("d.updated_at",),
    "title": ("lower(d.title)",),
    "name": (f"lower({FILE_NAME})", "lower(d.title)"),
    "type": ("d.media_type", "lower(d.title)"),
    "folder": (f"lower({FOLDER})", FOLDER, "lower(d.title)"),
}


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Which documents to list; what is left out narrows nothing.

    ``space`` is an id or a slug, ``title`` a case-insensitive part of the title. ``source`` is the id of a source,
    ``path`` how a path in one begins, or a pattern with ``*`` and ``?``. ``document_ids`` limits the list to these; ids
    that are not UUIDs are ignored. ``lasting`` leaves out documents that runs stored temporarily, as web pages.
    ``query`` is words that title, path or address have, ``media_types`` some of these,
    ``folder`` that of the file, empty for files in none, and ``names`` exact names of files. ``collection`` is the id
    of a collection that the identity sees.
    """

    space: str | None = None
    title: str | None = None
    source: str | None = None
    path: str | None = None
    document_ids: Sequence[str] | None = None
    lasting: bool = False
    query: str | None = None
    media_types: Sequence[str] = ()
    folder: str | None = None
    names: Sequence[str] = ()
    collection: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing can match: the source's id is none."""
        return self.source is not None and as_uuid(self.source) is None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of ``FILTERED``."""
        known = None if self.document_ids is None else [as_uuid(each) for each in self.document_ids]
        return {
            "space": self.space,
            "title": None if self.title is None else containing(self.title),
            "source": self.source,
            "path": None if self.path is None else _path_pattern(self.path),
            "ids": None if known is None else [each for each in known if each is not None],
            "lasting": self.lasting,
            "media_types": list(self.media_types) or None,
            "words": [containing(word) for word in (self.query or "").split()[:MOST_WORDS]] or None,
            "folder": self.folder,
            "collection": self.collection,
            "names": [compose(name) for name in self.names] or None,
        }


class TypeCount(TypedDict):
    """How many documents there are of a media type."""

    media_type: str
    documents: int


class FolderCount(TypedDict):
    """How many documents there are of files in a folder; it is empty for those in none."""

    folder: str
    documents: int


class SourceCount(TypedDict):
    """How many documents there are of a source; of a folder of the server no more than its name is told."""

    source_id: str
    kind: str
    location: str
    documents: int


@dataclass(frozen=True, slots=True)
class LibrarySummary:
    """How many documents there are, by type, folder and source.

    ``folders`` are in the order of a list that is sorted by folder, the first 1,000; ``folder_count`` is that of all.
    """

    documents: int
    types: list[TypeCount]
    folders: list[FolderCount]
    folder_count: int
    sources: list[SourceCount]


def ordered_by(sort: Sort, order: Order | None) -> str:
    """Return what a list is ordered by; without an order, changes are the newest first and all else ascends."""
    descending = order == "desc" or (order is None and sort == "changed")
    way = "DESC" if descending else "ASC"
    return ", ".join([*(f"{each} {way}" for each in _SORTED_BY[sort]), "d.document_id"])


def containing(part: str) -> str:
    """Return the pattern for LIKE of composed texts that have a part in them, whatever signs it has."""
    return f"%{_escaped(compose(part))}%"


def _path_pattern(path: str) -> str:
    """Return the pattern for LIKE of a beginning, or of a pattern with ``*`` and ``?``."""
    if "*" not in path and "?" not in path:
        return f"{_escaped(path)}%"
    return _escaped(path).replace("*", "%").replace("?", "_")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
