"""Find the places of a library that a question names: pages, headed parts, numbered paragraphs, sheets, documents.

What is found is read instead of what a search finds. A page that no document in question has is told as missing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from psycopg import sql

from graph.evidence import Identity, MissingPage, Segment, SegmentBlock
from graph.rows import Places, PlaceSpan
from text.dates import dates_of, parts_of_date
from text.normal_forms import flatten, without_accents
from text.page_references import asks_for_all, page_references, without_page_references
from text.place_references import AFTER, ANY_NUMBER, PlaceReference, begins, file_names, place_references, sheet_names
from text.terms import weigh_question
from text.words import terms_of, without_framing
from tools.retrieval.scope import NOT_EXPIRED, READABLE, SEGMENT_COLUMNS, as_array, as_segment, as_uuid, reading_as
from tools.storage.database import Connection, Database
from tools.storage.partitions import Place
from tools.storage.tenants import Workspaces

MOST_DOCUMENTS = 10  # that one place is looked for in; of more, it is unclear which one is meant
MOST_LISTED = 2000  # documents with pages that are looked through
LOOKED_AT = 1000  # segments with the words of a place that are looked at for one that begins with them
MOST_FOUND = 40  # segments that a place may begin in
BEFORE, BEHIND = 30, 60  # segments read with one that a place begins in


@dataclass(frozen=True, slots=True)
class _Document:
    document_id: str
    title: str
    path: str
    slug: str
    pages: int | None
    is_text: bool  # no slides and no sheets, whose pages are called otherwise

    @property
    def names(self) -> str:
        return f"{self.title} {self.path} {self.slug}"

    def is_file(self, name: str) -> bool:
        """Whether it is called so, with its suffix or without."""
        own = self.path.rpartition("/")[2].casefold()
        return name in (own, own.rpartition(".")[0], self.slug.casefold(), self.title.casefold())


class LibraryPlaces:
    """The ``PlaceFinder`` of a deployment."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def find(
        self, question: str, identity: Identity, *, spaces: Sequence[str] = (), document_ids: Sequence[str] = ()
    ) -> Places | None:
        """Return what a question names of the library; see ``graph.ports.PlaceFinder``. Raises DatabaseUnavailable."""
        asked = _Asked.of(question)
        if asked is None:
            return None
        within = [each for each in map(as_uuid, document_ids) if each is not None]
        row = {
            **reading_as(identity),
            "spaces": list(spaces) or None,
            "within": within if document_ids else None,
        }

        async def find_on(conn: Connection) -> Places | None:
            async def find_in(place: Place) -> Places | None:
                return await _Search(conn, place, {**row, "workspace": place.workspace}, asked).find()

            return await self._workspaces.read(conn, identity.workspace, find_in)

        return await self._database.read(find_on)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What of a question may name a place. ``rest`` is the question without its page numbers."""

    pages: tuple[range, ...]
    dates: tuple[str, ...]
    files: tuple[str, ...]
    sheets: tuple[str, ...]
    references: tuple[PlaceReference, ...]
    rest: str

    @classmethod
    def of(cls, question: str) -> "_Asked | None":
        asked = cls(
            page_references(question),
            tuple(date for date, _, _ in dates_of(question)),
            tuple(file_names(question)),
            tuple(sheet_names(question)),
            tuple(place_references(question)),
            without_page_references(question),
        )
        named = (asked.pages, asked.dates, asked.files, asked.sheets, asked.references)
        return asked if any(named) else None


def _plain_words(text: str) -> frozenset[str]:
    """Return the words of a text as names of files write them, without accents."""
    return frozenset(terms_of(without_accents(flatten(text))))


@dataclass(frozen=True, slots=True)
class _Search:
    conn: Connection
    place: Place
    row: Mapping[str, Any]
    asked: _Asked

    async def find(self) -> Places | None:
        asked = self.asked
        listed = await self._documents(paged=bool(asked.pages)) if asked.pages or asked.dates or asked.files else []
        named = [each for each in listed if any(map(each.is_file, asked.files))] or self._dated(listed)
        if asked.pages and (found := await self._pages(named or self._titled(listed), asked.pages, asked.rest)):
            return found
        if found := await self._headed(named) or await self._slides(named):
            return found
        documents = [each.document_id for each in named]
        return Places(spans=[], documents=documents, whole=False, only=True) if named else None

    async def _slides(self, named: Sequence[_Document]) -> Places | None:
        """Return the slide or the sheet with a number that nothing begins with, where only that is asked for."""
        for reference in self.asked.references:
            rest = re.sub(reference.names[-1], " ", self.asked.rest, flags=re.IGNORECASE)
            numbers = [int(each) for each in reference.numbers if each.isdecimal()]
            listed = (named or await self._documents(paged=True)) if numbers else []
            slides = [each for each in listed if not each.is_text and (each.pages or 0) >= numbers[0]]
            found = await self._pages(slides, [range(numbers[0], numbers[0] + 1)], rest) if slides else None
            if found and found["whole"]:
                return found
        return None

    def _dated(self, listed: Sequence[_Document]) -> list[_Document]:
        """Return the documents whose names have a date of the question and another word of it."""
        wanted = set(self.asked.dates)
        words = _plain_words(without_framing(self.asked.rest))
        return [
            each
            for each in listed
            if any(wanted & parts_of_date(date) for date, _, _ in dates_of(each.names))
            and words & _plain_words(each.title)
        ]

    def _titled(self, listed: Sequence[_Document]) -> list[_Document]:
        """Return the documents whose names have most of the question's words; all where none has one."""
        words = _plain_words(without_framing(self.asked.rest))
        shared = {each.document_id: len(words & _plain_words(each.names)) for each in listed}
        most = max(shared.values(), default=0)
        of_text = any(each.is_text and each.pages for each in listed)
        return [each for each in listed if shared[each.document_id] == most and (most or each.is_text or not of_text)]

    async def _pages(self, candidates: Sequence[_Document], pages: Sequence[range], rest: str) -> Places | None:
        """Return the spans of pages, or that there are none such; None where it is unclear of which document."""
        paged = {each: each.pages for each in candidates if each.pages}
        first = min(asked.start for asked in pages)
        having = [each for each, last in paged.items() if last >= first]
        if len(having) > MOST_DOCUMENTS or not paged:
            return None
        if not having:
            longest = max(paged, key=lambda each: paged[each])
            missing = MissingPage(page=first, pages=paged[longest], title=longest.title if len(paged) == 1 else "")
            return Places(spans=[], documents=[], whole=False, only=True, missing=missing)
        numbers = [number - 1 for asked in pages for number in asked[:MOST_LISTED]]
        found = await self._rows(_PAGES, documents=[each.document_id for each in having], pages=numbers)
        spans = [
            PlaceSpan(document_id=document_id, start=start, end=end, first=begin, last=last)
            for document_id, start, end, begin, last in found
        ]
        return self._places(spans, rest, [each.names for each in having]) if spans else None

    async def _headed(self, named: Sequence[_Document]) -> Places | None:
        """Return the spans of what begins as the question says; that of a number alone only where nothing else does."""
        rows = await self._beginnings(named)
        if not rows:
            return None
        windows: dict[str, tuple[int, int]] = {}
        for document_id, index in rows:
            first, last = windows.get(document_id, (index, index))
            windows[document_id] = min(first, index - BEFORE), max(last, index + BEHIND)
        read = await self._rows(
            _WINDOWS,
            documents=list(windows),
            first=[first for first, _ in windows.values()],
            last=[last for _, last in windows.values()],
        )
        documents = [tuple(own) for _, own in groupby(map(as_segment, read), key=lambda each: each.document_id)]
        for reference in self.asked.references:
            for pattern, series in zip(reference.names, reference.series, strict=True):
                if found := [each for own in documents for each in _spans(own, pattern, series)]:
                    return self._chosen(found, pattern, documents, is_sure=True)
            if found := [each for own in documents for each in _spans(own, reference.numbered, ANY_NUMBER)]:
                return self._chosen(found, reference.names[-1], documents, is_sure=False)
        for name in map(re.escape, self.asked.sheets):
            if found := [each for own in documents for each in _spans(own, f"{name}$", ".*")]:
                return self._chosen(found, rf"\w+\W+{name}", documents, is_sure="!" in documents[0][0].blocks[0].anchor)
        return None

    def _chosen(
        self, found: Sequence["_Begun"], pattern: str, documents: Sequence[tuple[Segment, ...]], *, is_sure: bool
    ) -> Places | None:
        """Return the spans in the documents that the question is nearest to by their titles."""
        words = _plain_words(without_framing(self.asked.rest))
        titles = {own[0].document_id: own[0].title for own in documents}
        shared = {each: len(words & _plain_words(titles[each])) for each in {one.span["document_id"] for one in found}}
        nearest = [one for one in found if shared[one.span["document_id"]] == max(shared.values())]
        within = {one.span["document_id"] for one in nearest}
        if len(within) > MOST_DOCUMENTS:
            return None
        said = re.sub(pattern, " ", self.asked.rest, flags=re.IGNORECASE)
        return self._places(
            [one.span for one in nearest],
            said,
            [titles[each] for each in within],
            is_sure=is_sure and all(one.is_one_of_several for one in nearest),
        )

    def _places(self, spans: list[PlaceSpan], rest: str, names: Sequence[str], *, is_sure: bool = True) -> Places:
        """Return spans in documents with these names, of a question that says ``rest`` beside the place."""
        known = _plain_words(" ".join(names))
        for each in self.asked.references:  # "decision no. 11" is a name with its words, as far as its number is in it
            if known & set(each.numbers):
                rest = re.sub(each.names[-1], " ", rest, flags=re.IGNORECASE)
        whole = asks_for_all(rest, known)
        return Places(spans=spans, documents=[], whole=whole, only=whole or is_sure)

    async def _beginnings(self, named: Sequence[_Document]) -> list[tuple[str, int]]:
        """Return the document and the index of segments in which a line or a heading begins as a place may."""
        asked = self.asked
        texts = [text for each in asked.references for text in (*each.spellings(), *each.numbers)]
        picks = {pick for text in (*texts, *asked.sheets) if (pick := self._pick(text))}
        if not picks:
            return []
        begin = "|".join(pattern for each in asked.references for pattern in (*each.names, each.numbered)) or "(?!)"
        documents = [each.document_id for each in named] or None
        pattern = rf"(?:^|\n| > )\W{{0,3}}(?:{begin})"
        return await self._rows(
            _BEGINNINGS, picks=list(picks), begin=pattern, sheets=list(asked.sheets), named=documents
        )

    def _pick(self, text: str) -> str:
        """Return the terms that a segment with these words has, as the index on terms has them."""
        terms = weigh_question(text)
        key = 0 if self.place.own else self.place.workspace << 32
        ids = terms.ids[(terms.expected > 0) & (terms.weights == 1)].tolist()
        return as_array(str(key + term) for term in ids) if ids else ""

    async def _documents(self, *, paged: bool) -> list[_Document]:
        """Return documents that have pages, or of whose names the files or dates of the question may be a part."""
        days = {part.lstrip("0") for date in self.asked.dates for part in date.split("-")[-1:]}
        patterns = [f"%{each}%" for each in (*self.asked.files, *days)]
        rows = await self._rows(_DOCUMENTS, paged=paged, patterns=patterns)
        return [_Document(*row) for row in rows]

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


@dataclass(frozen=True, slots=True)
class _Begun:
    """A span that begins as a place does; ``is_one_of_several`` where others near it begin so with other numbers."""

    span: PlaceSpan
    is_one_of_several: bool


def _spans(segments: Sequence[Segment], pattern: str, series: str) -> Iterator[_Begun]:
    """Yield what begins with a pattern in the segments of one document, as far as the next such beginning.

    A heading's part goes as far as the next heading that is no deeper, a paragraph's as far as the next of its series.
    """
    blocks = [(each, one) for each in segments for one in each.blocks]
    begun = [_begins(series, *each) for each in blocks]
    for at, (segment, block) in enumerate(blocks):
        if not _begins(pattern, segment, block):
            continue
        deeper = rf"(?:{pattern.removesuffix(AFTER)})\.\d"
        end = at + 1
        while end < len(blocks) and not _ends(block, blocks[end], begun[end], deeper):
            end += 1
        if block.kind == "heading" and end == at + 1:
            continue  # a list of contents
        last, closing = blocks[end - 1]
        yield _Begun(
            PlaceSpan(
                document_id=segment.document_id,
                start=block.start,
                end=closing.end,
                first=segment.segment_index,
                last=last.segment_index,
            ),
            any(other and not _begins(pattern, *each) for other, each in zip(begun, blocks, strict=True)),
        )


def _begins(pattern: str, segment: Segment, block: SegmentBlock) -> bool:
    if block.kind not in ("heading", "paragraph", "list_item"):
        return False
    text = segment.text[block.start - segment.start : block.end - segment.start]
    return begins(pattern, text, is_heading=block.kind == "heading")


def _ends(opening: SegmentBlock, following: tuple[Segment, SegmentBlock], is_next: bool, deeper: str) -> bool:
    segment, block = following
    if block.kind == "heading":
        is_deeper = opening.kind == "heading" and (block.depth > opening.depth > 0 or _begins(deeper, segment, block))
        return not is_deeper
    return is_next and opening.kind != "heading"


_SEEN = f"""d.workspace = %(workspace)s AND d.deleted_at IS NULL AND {READABLE} AND {NOT_EXPIRED}
    AND (d.expires_at IS NULL OR %(within)s::uuid[] IS NOT NULL)
    AND (%(within)s::uuid[] IS NULL OR d.document_id = ANY(%(within)s::uuid[]))
    AND (%(spaces)s::text[] IS NULL OR d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s))"""
_PATH = "coalesce(d.metadata->>'file_path', d.original_name, '')"
_DOCUMENTS = f"""
SELECT d.document_id::text, d.title, {_PATH}, coalesce(d.slug, ''), d.page_count,
    d.media_type !~ 'sheet|excel|presentation|powerpoint'
FROM documents AS d
WHERE {_SEEN} AND {{here}} AND (%(paged)s AND d.page_count IS NOT NULL
    OR concat_ws(' ', d.title, {_PATH}, d.slug) ILIKE ANY(%(patterns)s::text[]))
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
    AND (f.heading ~* %(begin)s OR f.body ~* %(begin)s OR f.heading = ANY(%(sheets)s::text[]))
ORDER BY 1, 2 LIMIT {MOST_FOUND}"""
_WINDOWS = f"""
SELECT {SEGMENT_COLUMNS}
FROM unnest(%(documents)s::uuid[], %(first)s::integer[], %(last)s::integer[]) AS w (document_id, first, last)
    JOIN documents AS d ON d.document_id = w.document_id
    JOIN {{partition}} AS s ON s.workspace = {{workspace}} AND s.document_id = w.document_id
        AND s.segment_index BETWEEN w.first AND w.last
WHERE {_SEEN} AND {{here}} ORDER BY s.document_id, s.segment_index"""
