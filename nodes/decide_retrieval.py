"""Make the question standalone, decide whether retrieval is needed, and reset the fields of the last run."""

import time
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

import prompts
from answers.library_listing import EVERY_DOCUMENT, FROM_CATALOGUE
from answers.links import without_links, without_marks
from graph.context import Context
from graph.errors import InvalidRequest
from graph.events import RetrievalDecided
from graph.evidence import (
    AnswerFrom,
    Failure,
    FamilyName,
    LibraryQuestion,
    SearchMode,
    answer_text,
)
from graph.ports import Catalogue, LibraryLanguages, PlaceFinder, Preparation, QuestionPreparer
from graph.reasons import Reason, why
from graph.routing import gathering_rounds
from graph.rows import ANSWER_KEPT, TURNS_KEPT, Gathering, Outside, Places, Turn
from graph.state import OF_A_RUN, SCHEMA_VERSION, State
from graph.usage import Meter
from text.language import DEFAULT, language

NO_QUESTION = "question: ask one; it is missing or blank."
NOWHERE_TO_LOOK = Reason("nowhere_to_look")
OF_THE_CATALOGUE = Reason("of_catalogue")
MODEL_ALONE = Reason("model_alone")
_ONLY_QUOTES = Reason("only_quotes")
NO_KNOWLEDGE = Failure(code="no_own_knowledge", message=str(_ONLY_QUOTES), why=why(_ONLY_QUOTES))


async def decide_retrieval(
    state: State,
    runtime: Runtime[Context],
    *,
    preparer: QuestionPreparer,
    catalogue: Catalogue | None,
    places: PlaceFinder | None,
    languages: LibraryLanguages | None,
    outside: list[Outside],
    family: FamilyName,
    meter: Meter,
) -> dict[str, Any]:
    """Prepare the question in at most one model call, and reset the state of the last run.

    A run that is to be answered from the model's own knowledge retrieves nothing and asks no model here. A question
    about the library itself is recognised by rule, for every family alike, or by the model that is asked here; where
    only selected pages may answer, or for strangers who share an identity, it is searched for as any other.

    Raises InvalidRequest without a question.
    """
    if not state.question.strip():
        raise InvalidRequest(NO_QUESTION)
    started_at = time.time()  # before the preparation, whose seconds count too
    turns = finished_turns(state)
    state = replace(state, outside=outside)
    requested = runtime.context.answer_from
    answer_from: AnswerFrom = requested if family == "llm" else "library"
    planned = [] if answer_from == "model" else gathering_rounds(state, runtime.context)
    if runtime.context.only_selected_pages or runtime.context.is_shared:
        catalogue = None
    about_library = await _about_library(state, turns, runtime.context, answer_from, catalogue)
    if about_library is not None:
        preparation = _of_the_catalogue(state.question, turns)
    else:
        preparation = await preparer.prepare(
            state.question,
            turns,
            search="off" if answer_from == "model" else search_mode(planned, runtime.context),
            has_pages=answer_from != "model" and bool(state.page_ids or state.selected_text),
            general_knowledge=answer_from == "library_then_model",
            search_languages=await _library_languages(state, runtime.context, planned, family, languages),
            meter=meter,
        )
        if preparation.about_library:
            catalogued = catalogue is not None
            about_library = {**EVERY_DOCUMENT, "asks": preparation.about_library} if catalogued else None
            preparation = replace(
                preparation,
                intent="about_library" if catalogued else "content_query",
                needs_retrieval=not catalogued,
            )
    asked = (state.question, *(turn["question"] for turn in turns), *(turn["answer"] for turn in turns))
    question = without_links(preparation.standalone_question, asked)
    sub_questions = [part for each in preparation.sub_questions if (part := without_links(each, asked))]
    worded = (without_links(each, asked) for queries in preparation.search_queries.values() for each in queries)
    beside = [each for each in dict.fromkeys([*sub_questions, *worded]) if each and each != question]
    needs_retrieval = preparation.needs_retrieval and bool(planned)
    named = None
    if needs_retrieval and places is not None:
        named = await _places(question, state, runtime.context, places)
        if named and named["missing"]:
            planned, answer_from = [["search_segments"]], "library"  # nothing else knows of that page
    reason = decision_reason(preparation, planned, answer_from)
    beyond_quotes = preparation.beyond_quotes if family == "extractive" else None
    runtime.stream_writer(
        RetrievalDecided(
            needs_retrieval=needs_retrieval,
            reason=without_marks(without_links(reason)),
            why=why(reason if isinstance(reason, Reason) else without_marks(without_links(reason))),
            standalone_question=without_marks(question),
            intent=preparation.intent,
            fallback=preparation.fallback or (NO_KNOWLEDGE if answer_from != requested else beyond_quotes),
            sub_questions=[without_marks(each) for each in sub_questions],
        )
    )
    begun = State(
        schema_version=SCHEMA_VERSION,
        turns=turns,
        asked=state.question,
        started_at=started_at,
        standalone_question=question,
        needs_retrieval=needs_retrieval,
        intent=preparation.intent,
        about_library=about_library,
        places=named,
        language=preparation.language,
        answer_from=answer_from,
        plan=planned,
        rewrites_allowed=0 if named and named["missing"] else runtime.context.max_rewrites,
        sub_questions=sub_questions,
        query=question,
        beside=beside,
        tried=[question, *beside],
        outside=outside,
        beyond_quotes=beyond_quotes is not None,
    )
    # Without Overwrite, rows of the last run would remain.
    return {name: getattr(begun, name) for name in OF_A_RUN} | {"spent": Overwrite({})}


async def _about_library(
    state: State, turns: list[Turn], context: Context, answer_from: AnswerFrom, catalogue: Catalogue | None
) -> LibraryQuestion | None:
    """Return what the question asks about the library itself, None if nothing or if no catalogue may answer."""
    if catalogue is None:
        return None
    in_view = turns or state.page_ids or state.selected_text or answer_from == "model"
    return await catalogue.recognise(state.question, turns, context.identity, spaces=context.spaces, alone=not in_view)


async def _places(question: str, state: State, context: Context, places: PlaceFinder) -> Places | None:
    """Return what the question names of the selected pages, of the library where none is selected.

    What a follow-up names by itself counts where with the words of the conversation it names nothing.
    """
    if context.search == "off" and not state.page_ids:
        return None
    for wording in dict.fromkeys((question, state.question)):
        found = await places.find(wording, context.identity, spaces=context.spaces, document_ids=state.page_ids)
        if found is not None:
            return found
    return None


async def _library_languages(
    state: State,
    context: Context,
    planned: list[list[Gathering]],
    family: FamilyName,
    languages: LibraryLanguages | None,
) -> tuple[str, ...]:
    """Return the library's languages if a model is to search it and the question's own is known, else none."""
    searched = any("search_segments" in names for names in planned)
    if languages is None or family != "llm" or not searched:
        return ()
    return await languages(context.identity) if language(state.question, default="") else ()


def _of_the_catalogue(question: str, turns: list[Turn]) -> Preparation:
    detected = language(question, default=language(turns[-1]["question"]) if turns else DEFAULT)
    return Preparation(question, False, OF_THE_CATALOGUE, "about_library", detected)


def decision_reason(preparation: Preparation, planned: list[list[Gathering]], answer_from: AnswerFrom) -> str:
    """Return the reason for the decision: the preparer's, unless it is not what decided."""
    if answer_from == "model" and preparation.intent != "about_library":
        return MODEL_ALONE
    return NOWHERE_TO_LOOK if preparation.needs_retrieval and not planned else preparation.reason


def search_mode(planned: list[list[Gathering]], context: Context) -> SearchMode:
    """Return the search mode for the preparer: auto if the library is off but the web may be searched."""
    on_the_web = any(name in ("search_web", "search_mcp") for names in planned for name in names)
    return "auto" if context.search == "off" and on_the_web else context.search


def finished_turns(state: State) -> list[Turn]:
    """Return the turns kept, with the last run's exchange unless that run was interrupted before its outcome.

    A history that came with the question replaces them. Long answers are cut to their beginning.
    """
    if state.history is not None:
        return [_told(turn) for turn in state.history[-TURNS_KEPT:]]
    if not state.outcome:
        return state.turns
    last = Turn(
        question=state.asked,
        standalone_question=state.standalone_question,
        answer=answer_text(state.sections)[:ANSWER_KEPT],
        from_catalogue=state.stop_reason == FROM_CATALOGUE,
        refused=state.outcome == "abstained",
    )
    return [*state.turns, last][-TURNS_KEPT:]


def _told(turn: Turn) -> Turn:
    """Return a client's turn, cut, and known as refused where its answer reads like a refusal."""
    kept: Turn = {**turn, "answer": turn["answer"][:ANSWER_KEPT]}
    return {**kept, "refused": True} if prompts.is_refusal(turn["answer"]) else kept
