"""Find the places of a library that a question names: pages, headed parts, numbered paragraphs, sheets, documents.

What is found is read instead of what a search finds, so it has to be sure: a place is one of a series ("Clause 13",
"Clause 14"), or all that the question asks for. A page that no document in question has is told as missing.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from psycopg import sql

from graph.evidence import Identity, MissingPage, Segment
from graph.rows import Places, PlaceSpan
from text.dates import dates_of, parts_of_date, without_dates
from text.place_references import ANY_NUMBER, PlaceQuestion, PlaceReference, plain_words
from text.terms import weigh_question
from text.words import without_framing
from tools.retrieval.headed_parts import LONGEST_BEGINNING, HeadedPart, parts_beginning, span_of
from tools.retrieval.scope import NOT_EXPIRED, READABLE, SEGMENT_COLUMNS, as_array, as_segment, as_uuid, reading_as
from tools.storage.database import Connection, Database
from tools.storage.partitions import Place
from tools.storage.tenants import Workspaces

MOST_DOCUMENTS = 10  # that one place is looked for in; of more, it is unclear which one is meant
MOST_LISTED = 2000  # documents with pages that are looked through
LOOKED_AT = 1000  # segments with the words of a place that are looked at for one that begins with them
MOST_FOUND = 40  # segments that a place may begin in
BEFORE, BEHIND = 30, 60  # segments read with one that a place begins in


class LibraryPlaces:
    """The ``PlaceFinder`` of a deployment."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def find(
        self, question: str, identity: Identity, *, spaces: Sequence[str] = (), document_ids: Sequence[str] = ()
    ) -> Places | None:
        """Return what a question names of the library; see ``graph.ports.PlaceFinder``. Raises DatabaseUnavailable."""
        asked = PlaceQuestion.of(question)
        if not asked.names_any:
            return None
        row = {
            **reading_as(identity),
            "spaces": list(spaces) or None,
            "within": [each for each in map(as_uuid, document_ids) if each is not None] if document_ids else None,
        }

        async def find_on(conn: Connection) -> Places | None:
            async def find_in(place: Place) -> Places | None:
                return await _Search(conn, place, {**row, "workspace": place.workspace}, asked).find()

            return await self._workspaces.read(conn, identity.workspace, find_in)

        return await self._database.read(find_on)


@dataclass(frozen=True, slots=True)
class _Document:
    document_id: str
    title: str
    path: str
    slug: str
    opening: str  # its first line, which a scan has for a title
    pages: int
    called: str  # what its pages are called within the file: slide, sheet, and page where it is none of these
    labels: Sequence[object] | None  # of its pages, where they have others than 1, 2, 3; as whoever sent it says

    @property
    def names(self) -> str:
        return f"{self.title} {self.path} {self.slug} {self.opening}"

    def is_file(self, name: str) -> bool:
        """Whether it is called so, with its suffix or without."""
        own = self.path.rpartition("/")[2].casefold()
        return name in (own, own.rpartition(".")[0], self.slug.casefold())

    def pages_labelled(self, labels: Collection[str]) -> list[range]:
        """Return its pages with one of these labels, case-folded, as ``page_references`` does."""
        return [range(at, at + 1) for at, label in enumerate(self.labels or (), 1) if str(label).casefold() in labels]


@dataclass(frozen=True, slots=True)
class _Search:
    conn: Connection
    place: Place
    row: Mapping[str, Any]
    asked: PlaceQuestion

    async def find(self) -> Places | None:
        asked = self.asked
        is_paged = bool(asked.pages or asked.labels)
        listed = await self._documents(paged=is_paged) if is_paged or asked.dates or asked.files else []
        named = [each for each in listed if any(map(each.is_file, asked.files))] or self._dated(listed)
        if asked.pages:
            paged = [each for each in named or listed if each.pages]
            texts = [each for each in paged if each.called == "page"] or paged
            nearest = asked.nearest({each.document_id: each.names for each in (paged if named else texts)})
            meant = [each for each in paged if each.document_id in nearest]
            of_all = not named and len(meant) == len(paged)
            if found := await self._pages(meant, asked.pages, "(?!)", of_all=of_all):
                return found
        if found := await self._labelled(named or listed) or await self._headed(named) or await self._numbered(named):
            return found
        return _places([], documents=[each.document_id for each in named]) if named else None

    def _dated(self, listed: Sequence[_Document]) -> list[_Document]:
        """Return the documents whose names have a date of the question and another word of it."""
        words = plain_words(without_framing(without_dates(self.asked.rest)))
        return [
            each
            for each in listed
            if any(not parts_of_date(date).isdisjoint(self.asked.dates) for date, _, _ in dates_of(each.names))
            and words & plain_words(without_dates(each.title))
        ]

    async def _pages(
        self, paged: Sequence[_Document], pages: Sequence[range], said: str, *, of_all: bool = False
    ) -> Places | None:
        """Return the spans of pages, or that there are none such; None where it is unclear of which document."""
        first = min(asked.start for asked in pages)
        having = [each for each in paged if each.pages >= first]
        if not having and paged:
            is_sure = len(paged) == 1 or self.asked.asks_for_all(said, " ".join(each.names for each in paged))
            longest = max(paged, key=lambda each: each.pages)
            missing = MissingPage(page=first, pages=longest.pages, title="" if of_all else longest.title)
            return _places([], missing=missing) if is_sure else None
        if not 0 < len(having) <= MOST_DOCUMENTS:
            return None
        numbers = [number - 1 for asked in pages for number in asked[:MOST_LISTED]]
        spans = await self._rows(_PAGES, documents=[each.document_id for each in having], pages=numbers)
        whole = self.asked.asks_for_all(said, " ".join(each.names for each in having))
        return _places([span_of(*each) for each in spans], whole=whole) if spans else None

    async def _labelled(self, paged: Sequence[_Document]) -> Places | None:
        """Return the spans of the pages that are labelled as the question calls them, as iv is."""
        found = {each.document_id: pages for each in paged if (pages := each.pages_labelled(self.asked.labels))}
        nearest = self.asked.nearest({each.document_id: each.names for each in paged if each.document_id in found})
        meant = [each for each in paged if each.document_id in nearest]
        if len(meant) > MOST_DOCUMENTS:
            return None
        read = [await self._pages([each], found[each.document_id], "(?!)") for each in meant]
        spans = [span for each in read if each for span in each["spans"]]
        return _places(spans, whole=all(each and each["whole"] for each in read)) if spans else None

    async def _headed(self, named: Sequence[_Document]) -> Places | None:
        """Return the spans of what begins with the words and the number of the question, or is a sheet of that name."""
        asked = self.asked
        patterns = [own for each in asked.references for own, _ in each.beginnings]
        sheets = [each for each in asked.sheets if asked.says_little_beside(rf"\w+\W+{each}")]
        texts = [*(text for each in asked.references for text in each.spellings), *sheets]
        documents = await self._around(named, texts, begin="|".join(patterns), sheets=sheets) if texts else []
        if not documents:
            return None
        ways = {each: _first_begun(documents, each) for each in asked.references}
        if begun := [one for _, found in ways.values() for one in found]:
            others = [each.numbers for each, (_, found) in ways.items() if not found]
            said = "|".join(own for own, _ in ways.values() if own)
            is_sure = all(each.is_one_of_several for each in begun)
            return self._chosen(begun, documents, said, others=others, is_sure=is_sure)
        for name in map(re.escape, sheets):
            books = [one for one in documents if any("!" in block.anchor for each in one for block in each.blocks)]
            if found := [each for one in books for each in parts_beginning(one, f"{name}$", ".*")]:
                return self._chosen(found, documents, rf"\w+\W+{name}", is_sure=True)
        return None

    async def _numbered(self, named: Sequence[_Document]) -> Places | None:
        """Return what begins with the number alone, and the slide or sheet with it, where only that is asked for.

        The word before the number has to be that of the file, or the file is chosen.
        """
        said = "|".join(each.shortest for each in self.asked.references)
        if not said or not self.asked.says_little_beside(said):
            return None
        listed = named or await self._documents(paged=True)
        is_chosen = bool(named or self.row["within"])
        spans: list[PlaceSpan] = []
        for reference in self.asked.references:
            numbers = [each for each in reference.numbers if each[0].isdecimal()]
            documents = await self._around(named, numbers, numbers=numbers) if numbers else []
            meant = [one for one in documents if is_chosen or _calls_parts_so(one, reference)]
            found = [each for one in meant for each in parts_beginning(one, reference.numbered, ANY_NUMBER)]
            headed = self._chosen(found, meant, said, is_sure=False) if found else None
            pages = [range(int(each), int(each) + 1) for each in numbers if each.isdecimal()]
            parted = _called(listed, reference.words.casefold(), is_chosen=is_chosen)
            slides = [each for each in parted if pages and each.pages >= pages[0].start]
            paged = await self._pages(slides, pages, said) if slides else None
            spans += [span for each in (paged, headed) if each and each["whole"] for span in each["spans"]]
        return _places(spans, whole=True) if spans else None

    def _chosen(
        self,
        found: Sequence[HeadedPart],
        documents: Sequence[Sequence[Segment]],
        said: str,
        *,
        others: Sequence[tuple[str, ...]] = (),
        is_sure: bool,
    ) -> Places | None:
        """Return the spans in the documents that are nearest to the question by their titles, if these are meant.

        Numbers of the question that are of ``others``, which no place begins with, have to be in the titles.
        """
        titles = {one[0].document_id: one[0].title for one in documents}
        nearest = self.asked.nearest({each.span["document_id"]: titles[each.span["document_id"]] for each in found})
        names = " ".join(nearest.values())
        whole = self.asked.asks_for_all(said, names)
        is_sure = is_sure and not any(plain_words(names).isdisjoint(each) for each in others)
        if len(nearest) > MOST_DOCUMENTS or not (whole or is_sure):
            return None
        return _places([each.span for each in found if each.span["document_id"] in nearest], whole=whole)

    async def _around(
        self,
        named: Sequence[_Document],
        texts: Sequence[str],
        *,
        begin: str = "",
        numbers: Sequence[str] = (),
        sheets: Sequence[str] = (),
    ) -> list[list[Segment]]:
        """Return by document the segments around those with some text in which a line or a heading begins so."""
        picks = {pick for text in texts if (pick := self._pick(text))}
        rows = await self._rows(
            _BEGINNINGS,
            picks=list(picks),
            begin=rf"(?:^|\n| > )\W{{0,3}}(?:{begin or '(?!)'})",
            in_body=[form for each in numbers for form in (f"{each}%", f"%\n{each}%")],
            in_heading=[form for each in numbers for form in (f"{each}%", f"% > {each}%")] + list(sheets),
            named=[each.document_id for each in named] or None,
        )
        if not rows:
            return []
        read = await self._rows(_AROUND, documents=[each for each, _ in rows], indexes=[index for _, index in rows])
        return [list(own) for _, own in groupby(map(as_segment, read), key=lambda each: each.document_id)]

    def _pick(self, text: str) -> str:
        """Return the terms that a segment with these words has, as the index on terms has them."""
        terms = weigh_question(text)
        key = 0 if self.place.own else self.place.workspace << 32
        ids = terms.ids[(terms.expected > 0) & (terms.weights == 1)].tolist()
        return as_array(str(key + term) for term in ids) if ids else ""

    async def _documents(self, *, paged: bool) -> list[_Document]:
        """Return documents that have pages, or of whose names the files or dates of the question may be a part."""
        parts = [*self.asked.files, *(date.rpartition("-")[2].lstrip("0") for date in self.asked.dates)]
        return [
            _Document(*row) for row in await self._rows(_DOCUMENTS, paged=paged, parts=[f"%{each}%" for each in parts])
        ]

    async def _rows(self, statement: str, **named: Any) -> list[tuple[Any, ...]]:
        tables = self.place.read
        text = statement.format(
            partition=tables.segments,
            workspace=tables.workspace,
            here=tables.here,
            indexed=tables.indexed,
            array="integer[]" if self.place.own else "bigint[]",
        )
        found = await self.conn.execute(sql.SQL(text), {**self.row, **named}, binary=True)
        return await found.fetchall()


def _first_begun(documents: Sequence[Sequence[Segment]], reference: PlaceReference) -> tuple[str, list[HeadedPart]]:
    """Return what begins as the first of a place's patterns does that anything begins with, and this pattern."""
    for own, series in reference.beginnings:
        if found := [each for one in documents for each in parts_beginning(one, own, series)]:
            return own, found
    return "", []


def _called(documents: Sequence[_Document], word: str, *, is_chosen: bool) -> list[_Document]:
    """Return those whose slides or sheets are called so in the file; of chosen ones all, where none has the word."""
    parted = [each for each in documents if each.called != "page"]
    return [each for each in parted if word in (each.called, f"{each.called}s")] or (parted if is_chosen else [])


def _calls_parts_so(segments: Sequence[Segment], reference: PlaceReference) -> bool:
    """Whether a document has the word of a reference before a number, as one that calls its parts so."""
    return any(re.search(reference.beginnings[-1][1], each.text, re.IGNORECASE) for each in segments)


def _places(
    spans: list[PlaceSpan], *, documents: Sequence[str] = (), whole: bool = False, missing: MissingPage | None = None
) -> Places:
    return Places(spans=spans, documents=list(documents), whole=whole, missing=missing)


_SEEN = f"""d.workspace = %(workspace)s AND d.deleted_at IS NULL AND {READABLE} AND {NOT_EXPIRED}
    AND (d.expires_at IS NULL OR %(within)s::uuid[] IS NOT NULL)
    AND (%(within)s::uuid[] IS NULL OR d.document_id = ANY(%(within)s::uuid[]))
    AND (%(spaces)s::text[] IS NULL OR d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s))"""
_PATH = "coalesce(d.metadata->>'file_path', d.original_name, '')"
_DOCUMENTS = f"""
SELECT d.document_id::text, d.title, {_PATH}, coalesce(d.slug, ''), coalesce((
        SELECT left(split_part(s.body, chr(10), 1), {LONGEST_BEGINNING}) FROM {{partition}} AS s
        WHERE s.workspace = {{workspace}} AND s.document_id = d.document_id AND s.segment_index = 0
    ), ''), coalesce(d.page_count, 0),
    CASE WHEN d.media_type ~ 'sheet|excel' THEN 'sheet' WHEN d.media_type ~ 'presentation|powerpoint' THEN 'slide'
        ELSE 'page' END,
    CASE WHEN %(paged)s AND jsonb_typeof(d.metadata->'page_labels') = 'array' THEN d.metadata->'page_labels' END
FROM documents AS d
WHERE {_SEEN} AND {{here}} AND (%(paged)s AND d.page_count IS NOT NULL
    OR concat_ws(' ', d.title, {_PATH}, d.slug) ILIKE ANY(%(parts)s::text[]))
ORDER BY d.document_id LIMIT {MOST_LISTED}"""
_PAGES = f"""
SELECT s.document_id::text, min(s.start_offset), max(s.end_offset), min(s.segment_index), max(s.segment_index)
FROM {{partition}} AS s JOIN documents AS d ON d.document_id = s.document_id
WHERE {_SEEN} AND {{here}} AND s.workspace = {{workspace}} AND s.document_id = ANY(%(documents)s::uuid[])
    AND s.page_idx = ANY(%(pages)s::integer[])
GROUP BY s.document_id, s.page_idx
ORDER BY array_position(%(documents)s::text[], s.document_id::text), min(s.segment_index)"""
_BEGINNINGS = f"""
SELECT DISTINCT f.document_id::text, f.segment_index
FROM unnest(%(picks)s::text[]) AS p (pick) CROSS JOIN LATERAL (
    SELECT document_id, segment_index, heading, body FROM {{indexed}} @> p.pick::{{array}} LIMIT {LOOKED_AT}
) AS f JOIN documents AS d ON d.document_id = f.document_id
WHERE {_SEEN} AND {{here}} AND (%(named)s::uuid[] IS NULL OR f.document_id = ANY(%(named)s::uuid[]))
    AND (f.heading ~* %(begin)s OR f.body ~* %(begin)s
        OR f.heading LIKE ANY(%(in_heading)s::text[]) OR f.body LIKE ANY(%(in_body)s::text[]))
ORDER BY 1, 2 LIMIT {MOST_FOUND}"""
_AROUND = f"""
SELECT {SEGMENT_COLUMNS}
FROM (SELECT document_id, min(index) - {BEFORE} AS first, max(index) + {BEHIND} AS last
      FROM unnest(%(documents)s::uuid[], %(indexes)s::integer[]) AS w (document_id, index) GROUP BY document_id) AS w
    JOIN documents AS d ON d.document_id = w.document_id
    JOIN {{partition}} AS s ON s.workspace = {{workspace}} AND s.document_id = w.document_id
        AND s.segment_index BETWEEN w.first AND w.last
WHERE {_SEEN} AND {{here}} ORDER BY s.document_id, s.segment_index"""
