"""Rank, describe and cite segments: the sources of an answer, and citations quoted from stored text."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import quote

from typing_extensions import TypedDict

from answers.document_dates import dated_copies
from answers.entries import entries_of
from answers.marks import mark_of_row
from answers.passage_markdown import shown_text
from graph.evidence import (
    Citation,
    CitationContext,
    Claim,
    ContextSlice,
    Copy,
    NearPassage,
    Proof,
    Section,
    SectionClaim,
    Segment,
    ShownPassage,
    Source,
    SourceSegment,
    Span,
    Verdict,
)
from graph.reasons import Reason, why
from graph.rows import ClaimRow, SourceRow

_CELL = re.compile(r"(?P<sheet>.+)!(?P<cell>\$?[A-Z]{1,3}\$?\d{1,7})(?::.*)?", re.DOTALL)
_SHEETS = ("spreadsheet", "excel", "csv", "tab-separated")
_SLIDES = ("presentation", "powerpoint")
_LONGEST_LABEL = 32  # letters of a page's name


Placed = TypeVar("Placed", bound=Mapping[str, Any])


class OriginalPlace(TypedDict, total=False):
    """A slide, counting from 0, or a sheet and its cell, or what the file calls a page; nothing where it has none."""

    slide: int
    sheet: str
    cell: str
    page_label: str


def original_place(
    media_type: str, page_idx: int | None, anchor: str, metadata: Mapping[str, Any] | None = None
) -> OriginalPlace:
    """Return the slide of a presentation, the sheet and cell that an anchor of a workbook names, or a page's label."""
    if page_idx is not None and _is(media_type, _SLIDES):
        return OriginalPlace(slide=page_idx)
    if page_idx is not None and metadata and (label := _page_label(metadata, page_idx)):
        return OriginalPlace(page_label=label)
    cell = _CELL.fullmatch(anchor) if anchor and _is(media_type, _SHEETS) else None
    if cell is None:
        return OriginalPlace()
    sheet = cell["sheet"]
    if len(sheet) > 1 and sheet[0] == sheet[-1] == "'":
        sheet = sheet[1:-1].replace("''", "'")
    return OriginalPlace(sheet=sheet, cell=cell["cell"].replace("$", ""))


def _page_label(metadata: Mapping[str, Any], page_idx: int) -> str:
    """Return what a PDF calls a page, such as iv or A-3, "" where that is its number; the metadata may be anybody's."""
    labels = metadata.get("page_labels")
    label = labels[page_idx] if isinstance(labels, list) and page_idx < len(labels) else None
    return label[:_LONGEST_LABEL] if isinstance(label, str) and label != str(page_idx + 1) else ""


def place_of(entry: Mapping[str, Any]) -> OriginalPlace:
    """Return the slide, the sheet and cell, or the page's label of a source or a citation."""
    return cast(OriginalPlace, {name: entry[name] for name in OriginalPlace.__annotations__ if name in entry})


def with_place(entry: Placed, place: OriginalPlace) -> Placed:
    """Return a source, a citation or a quote with its place, whose names all of them have."""
    return cast(Placed, {**entry, **place})


def said_place(place: Mapping[str, Any]) -> str:
    """Return in English where a source or citation stands: "slide 3", "sheet Prices, A3", "page iv", or nothing."""
    if "slide" in place:
        return f"slide {place['slide'] + 1}"
    if "sheet" in place:
        return f"sheet {place['sheet']}" + (f", {place['cell']}" if "cell" in place else "")
    page_idx = place["page_idx"]
    return "" if page_idx is None else f"page {place.get('page_label') or page_idx + 1}"


def said_date(dated: Citation | Copy) -> str:
    """Return in English the date of a citation's document, or of a copy: "2026-05", "stored 2026-05-01", or nothing."""
    day = dated.get("date", "")
    return f"stored {day}" if dated.get("dated_by") == "library" else day


def said_copies(citation: Citation) -> str:
    """Return in English which older documents hold copies of a quote, each with its date; "" if none does."""
    said: list[str] = []
    for each in citation.get("copies", ()):
        date = said_date(each)
        said.append(f"{'with changes' if each['differs'] else 'also'} in {each['title']}{f' ({date})' if date else ''}")
    return "; ".join(said)


def said_segment_place(segment: Segment) -> str:
    """Return in English where a segment stands; of a sheet it names no cell, for it has many rows."""
    return said_place({"page_idx": segment.page_idx, **segment_place(segment)})


def segment_place(segment: Segment) -> OriginalPlace:
    """Return the slide or the sheet of a segment."""
    anchor = next((block.anchor for block in segment.blocks if block.anchor), "")
    place = original_place(segment.media_type, segment.page_idx, anchor, segment.metadata)
    place.pop("cell", None)
    return place


def _is(media_type: str, kinds: tuple[str, ...]) -> bool:
    return any(kind in media_type for kind in kinds)


EXCERPT_CHARACTERS = 500
NEAREST_SHOWN = 3
_FRAGMENT = "!$&+,;=:@/?"  # what stays as it is in a fragment, without parentheses, which would end a Markdown link


def excerpt(text: str, limit: int = EXCERPT_CHARACTERS) -> str:
    """Cut text to at most ``limit`` characters, at a space where possible, and end it in "..." if cut."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    room = limit - 3
    space = flat.rfind(" ", room // 2, room + 1)
    return flat[: space if space > 0 else room].rstrip() + "..."


def excerpt_around(text: str, start: int, end: int, limit: int = EXCERPT_CHARACTERS) -> str:
    """Cut text to at most ``limit`` characters around a slice of it, at spaces, with "..." where it is cut."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    first, last = len(" ".join(text[:start].split())), len(" ".join(text[:end].split()))
    room = limit - 6
    begin = first if last - first > room else max(0, min((first + last - room) // 2, len(flat) - room))
    stop = begin + room
    if begin and (space := flat.find(" ", begin, first + 1)) >= 0:
        begin = space + 1
    if stop < len(flat) and (space := flat.rfind(" ", min(last, (begin + stop) // 2), stop + 1)) >= 0:
        stop = space
    return f"{'...' if begin else ''}{flat[begin:stop].strip()}{'...' if stop < len(flat) else ''}"


def excerpt_of_quote(citation: Citation, text: str, offset: int) -> str:
    """Return the excerpt of a text that shows a quote of it, or the quote's highlight where the quote is too long.

    ``offset`` is where the text begins in the canonical text.
    """
    is_long = citation["end"] - citation["start"] > EXCERPT_CHARACTERS - 6
    span = citation.get("highlight", citation) if is_long else citation
    return excerpt_around(text, span["start"] - offset, span["end"] - offset)


BETWEEN_QUOTES = " ... "


def show_quotes(sources: list[Source], citations: Iterable[Citation], segments: Mapping[str, Segment]) -> list[Source]:
    """Give each source that is cited an excerpt that shows what is quoted of it, and return them all.

    It is the text around the first quote where that holds the others too, else the quotes, as far as they fit. Of a
    source whose segment is not given, it stays where it holds all quotes.
    """
    cited: dict[int, list[Citation]] = defaultdict(list)
    for citation in citations:
        cited[citation["source_index"]].append(citation)
    for source in sources:
        if own := cited.get(source["index"]):
            quotes = dict.fromkeys(excerpt_of_quote(each, each["quote"], each["start"]) for each in own)
            segment = segments.get(own[0]["segment_id"])
            around = source["excerpt"] if segment is None else excerpt_of_quote(own[0], segment.text, segment.start)
            holds_all = all(quote.strip(".") in around for quote in quotes)
            source["excerpt"] = around if holds_all else excerpt(BETWEEN_QUOTES.join(quotes))
    return sources


def describe_source(row: SourceRow, segment: Segment) -> Source:
    """Return a kept segment as clients see it."""
    source = Source(
        index=row["index"],
        segment_id=segment.segment_id,
        document_id=segment.document_id,
        segment_index=segment.segment_index,
        page_idx=segment.page_idx,
        title=segment.title,
        heading=segment.heading,
        kind=row["kind"],
        source_type=segment.source_type,
        slug=segment.slug,
        space=segment.space,
        url=segment.url,
        score=round(row["score"], 4),
        excerpt=excerpt(segment.text),
        start=segment.start,
        end=segment.end,
        metadata=segment.metadata,
    )
    return with_place(source, segment_place(segment))


def describe_sources(rows: Iterable[SourceRow], segments: Mapping[str, Segment]) -> list[Source]:
    """Return the kept segments as clients see them, those of one index as one source; unknown ones are left out."""
    groups: dict[int, list[SourceRow]] = defaultdict(list)
    for row in rows:
        if row["segment_id"] in segments:
            groups[row["index"]].append(row)
    return [_described(group, segments) for group in groups.values()]


def _described(group: Sequence[SourceRow], segments: Mapping[str, Segment]) -> Source:
    source = describe_source(group[0], segments[group[0]["segment_id"]])
    if len(group) > 1:
        own = sorted((segments[row["segment_id"]] for row in group), key=lambda segment: segment.segment_index)
        source["segments"] = [
            SourceSegment(segment_index=each.segment_index, start=each.start, end=each.end) for each in own
        ]
    return source


def segments_of(source: Source) -> dict[str, SourceSegment]:
    """Return all segments that were read of a source, by their ids."""
    only = SourceSegment(segment_index=source["segment_index"], start=source["start"], end=source["end"])
    return {f"{source['document_id']}:{each['segment_index']}": each for each in source.get("segments", [only])}


def rank_candidates(candidates: list[SourceRow]) -> dict[str, SourceRow]:
    """Return each segment's strongest candidate, strongest first; selected pages come before the rest."""
    ranked = sorted(candidates, key=lambda row: (row["kind"] != "page", -row["score"]))
    first: dict[str, SourceRow] = {}
    for row in ranked:
        first.setdefault(row["segment_id"], row)
    return first


def nearest_sources(
    candidates: list[SourceRow], repeated: Collection[str] = (), nearest: Sequence[NearPassage] = ()
) -> list[SourceRow]:
    """Return the few nearest candidates, which a refusal shows, each segment and each text once.

    Where passages that come ``nearest`` are known, these are the segments that they begin in.
    """
    ranked = rank_candidates(candidates)
    if known := [key for each in nearest if (key := each["proof"]["segment_id"]) in ranked]:
        return [ranked[key] for key in dict.fromkeys(known)]
    return [row for key, row in ranked.items() if key not in repeated][:NEAREST_SHOWN]


def describe_nearest(row: SourceRow, segment: Segment, near: NearPassage | None) -> Source:
    """Return a candidate that was not kept as a refusal shows it: with its passage, where one is known."""
    source = describe_source(row, segment)
    if near is None:
        return source
    proof = near["proof"]
    start, end = proof["start"], proof["end"]
    if not segment.start <= start < end <= segment.end:
        return source
    passage = passage_shown(segment, start, end, proof.get("highlight"))
    return Source(**source, answerhood=near["answerhood"], passage=passage)


def passage_shown(segment: Segment, start: int, end: int, highlight: Span | None = None) -> ShownPassage:
    """Return a part of a segment as a reader is shown it, outside of an answer."""
    passage = ShownPassage(
        start=start,
        end=end,
        quote=segment.text[start - segment.start : end - segment.start],
        text=shown_text(segment, {"start": start, "end": end}),
        heading_path=heading_path(segment, (highlight or {"start": start})["start"]),
        context=context_of_quote(segment, start, end),
    )
    if highlight is not None:
        passage["highlight"] = highlight
    return passage


SOURCE_CHANGED = Reason("source_changed")


def build_citation(
    proof: Proof,
    segment: Segment | None,
    *,
    source_index: int,
    section_index: int,
    verdict: Verdict,
    copies: Sequence[Segment] = (),
) -> Citation | None:
    """Return a citation that quotes a proof from its segment; None where the proof is outside that segment.

    ``copies`` are segments of other documents that hold a copy of the quote.
    """
    if segment is None or not segment.start <= proof["start"] < proof["end"] <= segment.end:
        return None
    citation = Citation(
        segment_id=segment.segment_id,
        document_id=segment.document_id,
        segment_index=segment.segment_index,
        page_idx=page_at(segment, proof["start"]),
        start=proof["start"],
        end=proof["end"],
        quote=segment.text[proof["start"] - segment.start : proof["end"] - segment.start],
        origin=proof["origin"],
        verdict=verdict,
        source_index=source_index,
        section_index=section_index,
    )
    if "highlight" in proof:
        citation["highlight"] = proof["highlight"]
    bears = proof.get("highlight", proof)
    path = heading_path(segment, bears["start"])
    if path or segment.heading:  # told to be empty where that of the segment's first block is not
        citation["heading_path"] = path
    if context := context_of_quote(segment, proof["start"], proof["end"]):
        citation["context"] = context
    best = segment.text[bears["start"] - segment.start : bears["end"] - segment.start]
    if copies and (told := dated_copies(segment, copies, best)):
        citation["date"], citation["dated_by"], citation["copies"] = told
    anchor = _anchor_at(segment, bears["start"])
    if segment.url and anchor:
        citation["anchor"] = anchor
    return with_place(citation, original_place(segment.media_type, citation["page_idx"], anchor, segment.metadata))


def quote_alone(segment: Segment, start: int, end: int) -> tuple[SectionClaim, Source]:
    """Return a slice of a segment as a claim that quotes it, the only one of its answer, and its source."""
    proof = Proof(segment_id=segment.segment_id, start=start, end=end, origin="cited")
    citation = build_citation(proof, segment, source_index=1, section_index=0, verdict="supported")
    assert citation is not None
    claim = SectionClaim(
        start=0,
        end=len(citation["quote"]),
        text=citation["quote"],
        verdict="supported",
        reasons=[],
        citations=[citation],
        by="text",
        mark="shown",
        section_index=0,
    )
    row = SourceRow(segment_id=segment.segment_id, index=1, score=1.0, kind="page")
    return claim, describe_source(row, segment)


_PAGE_BREAK = re.compile(r"(?<!\n)\f")


def page_at(segment: Segment, offset: int) -> int | None:
    """Return the page of an offset of the canonical text: a segment's last sentence may go on over the page's end."""
    if segment.page_idx is None:
        return None
    return segment.page_idx + len(_PAGE_BREAK.findall(segment.text, 0, offset - segment.start))


def heading_path(segment: Segment, offset: int) -> list[str]:
    """Return the headings above the block at an offset of the canonical text, the outermost first.

    Those above the segment where it was stored without structure.
    """
    if not segment.blocks:
        return [each for each in segment.heading.split(" > ") if each]
    at = bisect_right(segment.blocks, offset, key=lambda block: block.start) - 1
    found = [each.text for each in segment.blocks[at].context if each.role == "heading"] if at >= 0 else []
    if len(found) == 1 and segment.heading.endswith(f" > {found[0]}"):  # stored with the nearest heading alone
        return segment.heading.split(" > ")
    return found


def _anchor_at(segment: Segment, offset: int) -> str:
    """Return the anchor of the block that an offset of the canonical text is in, "" where it has none."""
    at = bisect_right(segment.blocks, offset, key=lambda block: block.start) - 1
    return segment.blocks[at].anchor if at >= 0 and offset < segment.blocks[at].end else ""


def landing_url(url: str, anchor: str) -> str:
    """Return a document's URL with the fragment of a place in it; one that has a fragment stays as it is."""
    return f"{url}#{quote(anchor, safe=_FRAGMENT)}" if anchor and "#" not in url else url


def context_of_quote(segment: Segment, start: int, end: int) -> list[CitationContext]:
    """Return what the entries of a quote hang on, the outermost first, without what is part of the quote itself.

    Headings are left out, since the source names their path. Offsets are those of the canonical text; a slice may be
    in another segment.
    """
    entries = entries_of(segment)
    found: dict[tuple[int, int], CitationContext] = {}
    for entry in entries[bisect_right(entries, start, key=lambda entry: entry.end) :]:
        if entry.start >= end:
            break
        for each in entry.context:
            if each.role != "heading" and not (start <= each.start and each.end <= end):
                found.setdefault(
                    (each.start, each.end),
                    CitationContext(role=each.role, start=each.start, end=each.end, text=each.text),
                )
    return list(found.values())


MOST_OUTSIDE = 6  # slices that a segment is shown with


def context_outside(segment: Segment) -> list[ContextSlice]:
    """Return what the blocks of a segment hang on outside of it, in order, without headings, six slices at most."""
    found = {
        (each.start, each.end): each
        for block in segment.blocks
        for each in block.context
        if each.role != "heading" and not segment.start <= each.start < segment.end
    }
    return list(found.values())[:MOST_OUTSIDE]


def build_claim(row: ClaimRow, section: Section, segments: Mapping[str, Segment], indices: Mapping[str, int]) -> Claim:
    """Return a checked claim with its text and the citations that prove it. ``indices`` number the sources by id.

    A supported claim becomes unverified if its source has changed since the check, so that no proof can be quoted.
    """
    quoted = (
        build_citation(
            proof,
            segments.get(proof["segment_id"]),
            source_index=indices[proof["segment_id"]],
            section_index=row["section_index"],
            verdict=row["verdict"],
            copies=[segments[each] for each in proof.get("copies", ()) if each in segments],
        )
        for proof in row["proofs"]
    )
    citations = [each for each in quoted if each is not None]
    lost = row["verdict"] == "supported" and not citations
    claim = Claim(
        start=row["start"],
        end=row["end"],
        text=section["text"][row["start"] : row["end"]],
        verdict="unverified" if lost else row["verdict"],
        reasons=[*row["reasons"], *([str(SOURCE_CHANGED)] if lost else [])],
        citations=citations,
    )
    if reasons := [*row.get("why", []), *(why(SOURCE_CHANGED) if lost else [])]:
        claim["why"] = reasons
    if "judge" in row and not lost:
        claim["by"], claim["judge"] = "judge", row["judge"]
    elif claim["verdict"] != "unverified":
        claim["by"] = "text"
    mark = mark_of_row(row)
    claim["mark"] = "withheld" if mark == "shown" and not citations else mark
    return claim
