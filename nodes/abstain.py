"""Refuse in the question's language, with the queries that were tried and the nearest material found."""

from collections.abc import Sequence
from typing import Literal

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

import prompts
from answers.citations import excerpt, nearest_sources
from answers.drafting import emit_removed, filter_links
from answers.library_listing import EVERY_DOCUMENT
from answers.links import without_marks
from answers.notices import notices_of
from graph.context import Context
from graph.events import SectionFinished, SectionStarted, TextDelta
from graph.evidence import FamilyName, Identity, Refusal, Section, Segment, StopReason
from graph.ports import Catalogue, LibraryLanguages, SegmentReader
from graph.routing import outside_failed
from graph.rows import ClaimRow
from graph.state import State
from graph.usage import STOP_REASONS, Meter
from text.language import language as language_of

LONGEST_QUERY = 120
OF_THE_LIBRARY = {"load_selected_pages", "search_segments"}


class AbstainUpdate(TypedDict):
    """The refusal as a section after the withdrawn ones, its reason, and its parts."""

    sections: list[Section]
    refusal: Refusal
    claims: list[ClaimRow]
    outcome: Literal["abstained"]
    stop_reason: StopReason


async def abstain(
    state: State,
    runtime: Runtime[Context],
    *,
    reader: SegmentReader,
    languages: LibraryLanguages | None,
    catalogue: Catalogue | None,
    family: FamilyName,
    meter: Meter,
) -> AbstainUpdate:
    """Refuse politely, naming the queries and the documents and headings of the nearest material found.

    Where the library was only searched in a language that it is not written in, its own languages are named. Where it
    holds nothing yet, that is said, and how to fill it. A family without a model says what it can't do, and how a model
    is added.
    """
    near = [row["segment_id"] for row in nearest_sources(state.candidates, state.repeated, state.nearest)]
    segments = await reader.read_segments(near, runtime.context.identity) if near else []
    reason = abstention_reason(state)
    in_library = any(name in OF_THE_LIBRARY for names in state.plan for name in names)
    if reason == "nothing_found" and in_library and await _is_empty(catalogue, runtime.context.identity):
        reason = "library_empty"
    held = await languages(runtime.context.identity) if in_library and languages is not None else ()
    foreign = held if _is_foreign(state, held) else ()
    web_failed = outside_failed(state)
    missing = state.places["missing"] if state.places is not None and not state.candidates else None
    says_so = family == "extractive" and reason != "library_empty" and (in_library or not web_failed) and not missing
    capped = STOP_REASONS.get(state.exhausted)  # a step that was cut might have found an answer
    parts = Refusal(
        code=capped or reason,
        tried=[without_marks(excerpt(query, LONGEST_QUERY)) for query in state.tried],
        library=in_library,
        web_failed=web_failed,
        written_in=list(foreign),
    )
    if says_so and (notices := notices_of(state)):
        parts["notices"] = notices
    if missing is not None:
        parts["missing_page"] = missing
    # A title can contain a link, and a query can be a model's words.
    text, removed = filter_links(refusal(reason, parts, segments, state.language), [], {})
    index = len(state.sections)
    emit_removed(removed, index, runtime.stream_writer)
    runtime.stream_writer(SectionStarted(section_index=index, fallback=state.fallback))
    runtime.stream_writer(TextDelta(section_index=index, delta=text))
    runtime.stream_writer(SectionFinished(section_index=index, text=text, source_ids=[]))
    return {
        "sections": [*state.sections, Section(text=text, source_ids=[])],
        "refusal": parts,
        "claims": [],
        "outcome": "abstained",
        "stop_reason": capped or reason,
    }


async def _is_empty(catalogue: Catalogue | None, identity: Identity) -> bool:
    """Whether the reader's library is known to hold no document, whatever part of it was searched."""
    return catalogue is not None and not (await catalogue.list(EVERY_DOCUMENT, identity, most=1)).total


def _is_foreign(state: State, held: Sequence[str]) -> bool:
    """Whether the question is in none of the library's languages, and no query was worded in one of them."""
    queried = {language_of(text, default="") for text in (state.asked, *state.tried)} - {""}
    return bool(queried) and queried.isdisjoint(held)


def abstention_reason(state: State) -> StopReason:
    """Return the reason for which the run has no answer."""
    if not state.needs_retrieval:
        return "library_not_allowed"
    if not state.candidates:
        return "search_failed" if outside_failed(state) else "nothing_found"
    if state.sections:
        return "claims_not_supported"
    return "insufficient_evidence" if state.sources else "nothing_relevant"


def refusal(reason: StopReason, parts: Refusal, near: Sequence[Segment], language: str) -> str:
    """Return the text of a refusal, with the queries as searched, and each title and heading that came near once.

    Of the notices, what the family can't do stands in place of what was not found, and how a model is added last. Of a
    page that is missing that is said alone.
    """
    wording, notices = prompts.lines(language), parts.get("notices", [])
    if (missing := parts.get("missing_page")) is not None:
        return (wording.no_page_in if missing["title"] else wording.no_page).format_map(missing)
    how = [wording.add_model] if "add_model" in notices else []
    if reason == "library_not_allowed":
        return prompts.join_lines(language, [wording.only_library, *how])
    if reason == "library_empty":
        return prompts.join_lines(language, [wording.catalogue_empty, wording.fill_library])
    if parts["web_failed"] and not parts["library"]:
        return wording.web_failed
    between = "；" if language in prompts.UNSPACED else "; "
    searched = wording.searched.format(queries=between.join(f"“{query}”" for query in parts["tried"]))
    sentences = [wording.nothing_found if parts["library"] else wording.nothing_on_web, searched]
    if near:
        places = between.join(dict.fromkeys(place_label(segment) for segment in near))
        sentences = [wording.not_in_library, searched, wording.nearest.format(places=places)]
    if named := [wording.languages[code] for code in parts["written_in"] if code in wording.languages]:
        listed = (
            named[0] if len(named) == 1 else wording.both.format(one=wording.comma.join(named[:-1]), other=named[-1])
        )
        sentences.append(wording.written_in.format(languages=listed))
    if "quotes_only" in notices:
        sentences = [wording.quotes_only, *sentences[bool(near) :]]
    return prompts.join_lines(language, sentences + [wording.web_failed] * parts["web_failed"] + how)


def place_label(segment: Segment) -> str:
    """Return a segment's title and heading, as a reader would look for it."""
    heading = segment.heading.removeprefix(segment.title).removeprefix(" > ")
    return f"{segment.title} > {heading}" if heading else segment.title
