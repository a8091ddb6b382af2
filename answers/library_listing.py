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
    """Return the answer in Markdown: how many documents there are, a list of the newest, and how many more."""
    wording = prompts.lines(language)
    name, since, until = excerpt(asked["name"], LONGEST_TITLE), asked["since"], asked["until"]
    if not listing.total:
        if asked["asks"] == "find":
            return wording.catalogue_not_found.format(name=name)
        if asked["asks"] == "changed":
            return wording.catalogue_unchanged.format(since=since, until=until)
        if asked["media_type"]:
            return wording.catalogue_no_format
        return prompts.join_lines(language, [wording.catalogue_empty, wording.fill_library])
    count = wording.one_document if listing.total == 1 else wording.documents.format(count=listing.total)
    if asked["asks"] == "find":
        lead = wording.catalogue_found.format(documents=count, name=name)
    elif asked["asks"] == "changed":
        lead = wording.catalogue_changed.format(documents=count, since=since, until=until)
    elif asked["media_type"]:
        lead = wording.catalogue_of_format.format(documents=count)
    else:
        lead = wording.catalogue_holds.format(documents=count)
    lines = [lead, "", *(f"- {_line(document, wording)}" for document in listing.documents)]
    more = listing.total - len(listing.documents)
    return "\n".join([*lines, "", wording.catalogue_more.format(count=more)] if more else lines)


def _line(document: ListedDocument, wording: prompts.Lines) -> str:
    title, place = excerpt(document.title, LONGEST_TITLE), excerpt(document.place, LONGEST_PLACE)
    changed = document.updated_at - document.created_at > UNCHANGED
    day = document.updated_at.astimezone(UTC).date().isoformat()
    said = (wording.catalogue_line_changed if changed else wording.catalogue_line_added).format(date=day)
    return wording.catalogue_line.format(title=title, place=place, said=said) if place else f"{title}{said}"
