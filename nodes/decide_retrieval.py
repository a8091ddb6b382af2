"""Make the question standalone, decide whether retrieval is needed, and reset the fields of the last run."""

import time
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from graph.context import Context
from graph.events import RetrievalDecided
from graph.evidence import Disagreement, Intent, SearchMode, Section
from graph.ports import QuestionPreparer
from graph.routing import Gathering, gathering_rounds
from graph.state import (
    ANSWER_KEPT,
    SCHEMA_VERSION,
    TURNS_KEPT,
    ClaimRow,
    DisputeRow,
    RevisionRow,
    SourceRow,
    State,
    Turn,
    answer_text,
)
from graph.usage import Meter

NOWHERE_TO_LOOK = "no page is selected, and neither the library nor the web is to be searched"


class DecideRetrievalUpdate(TypedDict):
    """Every field of a run, reset; fields with a reducer need Overwrite, or the last turn's rows would remain."""

    schema_version: int
    turns: list[Turn]
    history: None
    asked: str
    started_at: float
    standalone_question: str
    needs_retrieval: bool
    intent: Intent
    language: str
    query: str
    tried: list[str]
    rounds: int
    rewrites: int
    candidates: Overwrite
    graded: list[str]
    sources: list[SourceRow]
    sections: list[Section]
    claims: list[ClaimRow]
    checked: list[str]
    disputes: list[DisputeRow]
    disagreements: list[Disagreement]
    repairing: list[int]
    revisions: list[RevisionRow]
    repairs: int
    withdrawn: int
    fallback: None
    assessment: None
    outcome: Literal[""]
    stop_reason: Literal[""]
    exhausted: Overwrite
    spent: Overwrite


async def decide_retrieval(
    state: State, runtime: Runtime[Context], *, preparer: QuestionPreparer, meter: Meter
) -> DecideRetrievalUpdate:
    """Prepare the question in at most one model call, and reset the state of the last run."""
    started_at = time.time()  # before the preparation, whose seconds count too
    turns = finished_turns(state)
    planned = gathering_rounds(state, runtime.context)
    preparation = await preparer.prepare(
        state.question,
        turns,
        search=search_mode(planned, runtime.context),
        has_pages=bool(state.page_ids or state.selected_text),
        meter=meter,
    )
    nowhere_to_look = not planned
    question = preparation.standalone_question
    needs_retrieval = preparation.needs_retrieval and not nowhere_to_look
    runtime.stream_writer(
        RetrievalDecided(
            needs_retrieval=needs_retrieval,
            reason=NOWHERE_TO_LOOK if preparation.needs_retrieval and nowhere_to_look else preparation.reason,
            standalone_question=question,
            intent=preparation.intent,
            fallback=preparation.fallback,
        )
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "turns": turns,
        "history": None,
        "asked": state.question,
        "started_at": started_at,
        "standalone_question": question,
        "needs_retrieval": needs_retrieval,
        "intent": preparation.intent,
        "language": preparation.language,
        "query": question,
        "tried": [question],
        "rounds": 0,
        "rewrites": 0,
        "candidates": Overwrite([]),
        "graded": [],
        "sources": [],
        "sections": [],
        "claims": [],
        "checked": [],
        "disputes": [],
        "disagreements": [],
        "repairing": [],
        "revisions": [],
        "repairs": 0,
        "withdrawn": 0,
        "fallback": None,
        "assessment": None,
        "outcome": "",
        "stop_reason": "",
        "exhausted": Overwrite(""),
        "spent": Overwrite({}),
    }


def search_mode(planned: list[list[Gathering]], context: Context) -> SearchMode:
    """Return the search mode for the preparer: auto if the library is off but the web may be searched."""
    on_the_web = any("search_web" in names for names in planned)
    return "auto" if context.search == "off" and on_the_web else context.search


def finished_turns(state: State) -> list[Turn]:
    """Return the turns kept, with the last run's exchange unless that run was interrupted before its outcome.

    A history that came with the question replaces them. Long answers are cut to their beginning.
    """
    if state.history is not None:
        return [{**turn, "answer": turn["answer"][:ANSWER_KEPT]} for turn in state.history[-TURNS_KEPT:]]
    if not state.outcome:
        return state.turns
    last = Turn(
        question=state.asked,
        standalone_question=state.standalone_question,
        answer=answer_text(state.sections)[:ANSWER_KEPT],
    )
    return [*state.turns, last][-TURNS_KEPT:]
