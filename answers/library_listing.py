"""The answer to a question about the library itself: a sentence with the number, and the documents, newest first."""

from collections.abc import Callable, Sequence
from datetime import UTC, timedelta

import prompts
from answers.citations import describe_source, excerpt
from answers.drafting import emit_removed, filter_links
from graph.events import AnyEvent, SectionFinished, SectionStarted, SourcesGraded, TextDelta
from graph.evidence import LibraryQuestion, Section, Segment, StopReason
from graph.ports import ListedDocument, Listing
from graph.rows import SourceRow

EVERY_DOCUMENT = LibraryQuestion(asks="list", name="", is_file=False, media_type="", since="", until="")
FROM_CATALOGUE: StopReason = "answered_from_catalogue"
LONGEST_TITLE = 160  # characters
LONGEST_PLACE = 300
UNCHANGED = timedelta(seconds=1)  # a document is stored in less than this


def emit_listing(
    asked: LibraryQuestion,
    listing: Listing,
    segments: Sequence[Segment],
    sources: Sequence[SourceRow],
    language: str,
    section_index: int,
    emit: Callable[[AnyEvent], None],
) -> Section:
    """Emit the documents as sources and the listing as a section that names them; return the section.

    It has no claims: no text of a document says where it is or when it changed, so there is nothing to quote.
    """
    by_id = {segment.segment_id: segment for segment in segments}
    if sources:
        emit(SourcesGraded(sources=[describe_source(row, by_id[row["segment_id"]]) for row in sources]))
    source_ids = [row["segment_id"] for row in sources]
    # A title can be a link, and an address is one: it stays only where it is the document's own.
    text, removed = filter_links(listing_text(asked, listing, language), source_ids, by_id)
    emit(SectionStarted(section_index=section_index))
    emit(TextDelta(section_index=section_index, delta=text))
    emit_removed(removed, section_index, emit)
    emit(SectionFinished(section_index=section_index, text=text, source_ids=source_ids))
    return Section(text=text, source_ids=source_ids)


def listing_text(asked: LibraryQuestion, listing: Listing, language: str) -> str:
    """Return the answer in Markdown: how many documents there are, a list of the newest, and how many more.

    An order to change files is answered with what can be done instead, and where the file that it names is.
    """
    wording = prompts.lines(language)
    total = f"{listing.total}+" if listing.at_least else listing.total
    count = wording.one_document if total == 1 else wording.documents.format(count=total)
    told = {"name": excerpt(asked["name"], LONGEST_TITLE), "since": asked["since"], "until": asked["until"]}
    lead, nothing = (text.format(documents=count, **told) for text in _leads(asked, wording))
    if not listing.total:
        how = [wording.fill_library] if nothing == wording.catalogue_empty else []
        return prompts.join_lines(language, [nothing, *how])
    lines = [lead, "", *(f"- {_line(document, wording)}" for document in listing.documents)]
    more = listing.total - len(listing.documents)
    return "\n".join([*lines, "", wording.catalogue_more.format(count=more)] if more else lines)


def _leads(asked: LibraryQuestion, wording: prompts.Lines) -> tuple[str, str]:
    """Return what stands before a list of documents, and what is said where there is none."""
    match asked["asks"]:
        case "edit":
            return wording.read_only, wording.read_only
        case "mention":
            return wording.catalogue_mentions, wording.nothing_found
        case "find":
            return wording.catalogue_found, wording.nothing_found
        case "changed":
            return wording.catalogue_changed, wording.catalogue_unchanged
    if asked["media_type"]:
        return wording.catalogue_of_format, wording.catalogue_no_format
    return wording.catalogue_holds, wording.catalogue_empty


def _line(document: ListedDocument, wording: prompts.Lines) -> str:
    title, place = excerpt(document.title, LONGEST_TITLE), excerpt(document.place, LONGEST_PLACE)
    changed = document.updated_at - document.created_at > UNCHANGED
    day = document.updated_at.astimezone(UTC).date().isoformat()
    said = (wording.catalogue_line_changed if changed else wording.catalogue_line_added).format(date=day)
    pages = wording.catalogue_pages.format(count=document.pages) if document.pages else ""
    known = [place, excerpt(document.author, LONGEST_TITLE), pages, _file_size(document.size) if document.size else ""]
    where = wording.comma.join(filter(None, known))
    return wording.catalogue_line.format(title=title, place=where, said=said) if where else f"{title}{said}"


def _file_size(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB" if size >= 1_000_000 else f"{-(-size // 1000)} kB"
