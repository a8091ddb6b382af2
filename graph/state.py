"""Checkpointed state of a session: ids, scores, counters and the text of the last turns, never document text."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, get_type_hints

from langchain_core.messages import AnyMessage
from langgraph.channels import UntrackedValue
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite

from graph.evidence import (
    AnswerFrom,
    Assessment,
    Disagreement,
    Failure,
    Intent,
    LibraryQuestion,
    NearPassage,
    PagesRead,
    Refusal,
    Section,
    Spent,
    StopReason,
    add_use,
)
from graph.rows import ClaimRow, DisputeRow, Found, Gathering, Outside, Places, RevisionRow, SourceRow, Turn

SCHEMA_VERSION = 1


def add_found(before: list[SourceRow], after: list[SourceRow] | Found) -> list[SourceRow]:
    """Add the candidates that a node found, as nodes do side by side; a plain list replaces all, as an edit does."""
    return [*before, *after["found"]] if isinstance(after, Mapping) else after


def replace_spent(before: dict[str, Spent], after: dict[str, Spent]) -> dict[str, Spent]:
    """Replace the accounts of the nodes that are named; nodes that run side by side write one each."""
    return {**before, **after}


def spent_with(spent: Mapping[str, Spent], node: str, now: Spent) -> Spent:
    """Return a node's account with what it has used now; a node that runs again adds to its row."""
    so_far = spent.get(node, Spent(calls=0, tokens=0, ms=0.0))
    models = dict(so_far.get("models", {}))
    for model, use in now.get("models", {}).items():
        add_use(models, model, use)
    row = Spent(
        calls=so_far["calls"] + now["calls"],
        tokens=so_far["tokens"] + now["tokens"],
        ms=round(so_far["ms"] + now["ms"], 3),
    )
    return Spent(**row, models=models) if models else row


def last_cap(before: str, after: str) -> str:
    """Return the cap as it was written last: of a round's nodes more than one may reach a cap."""
    return after


@dataclass(frozen=True, slots=True)
class InputState:
    """The input of a run: the question, documents to read whole, and a passage selected by a reader.

    ``messages`` is the conversation as chat clients of LangGraph send and show it: a human message without an answer
    is the question. Only the server for such clients writes them (``api.studio``); the product's own sessions keep
    their messages elsewhere, and none here. ``history`` replaces the session's turns, for this run and those after it;
    None keeps them.
    """

    question: str = ""
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)
    page_ids: list[str] = field(default_factory=list)
    selected_text: str = ""
    history: list[Turn] | None = None


@dataclass(frozen=True, slots=True)
class State(InputState):
    """A session between and during runs.

    ``schema_version`` is that of the release that ran last. ``asked`` and the fields after it belong to the current or
    last run; decide_retrieval resets them all, and takes the question away, so that none is asked twice by mistake.
    Routers read nothing but state, so that it can be edited between any two nodes.
    """

    schema_version: int = SCHEMA_VERSION
    turns: list[Turn] = field(default_factory=list)

    asked: str = ""
    started_at: float = 0.0  # seconds since the epoch
    standalone_question: str = ""
    needs_retrieval: bool = True
    intent: Intent = "content_query"
    about_library: LibraryQuestion | None = None  # what a question about the library itself asks
    places: Places | None = None  # what the question names of the library
    language: str = "en"
    sub_questions: list[str] = field(default_factory=list)  # of a question that joins several; also in ``beside``
    answer_from: AnswerFrom = "library"  # as requested, where the family has knowledge of its own

    plan: list[list[Gathering]] = field(default_factory=list)  # rounds of gathering, see ``graph.routing``
    rewrites_allowed: int = 1

    query: str = ""  # the current search query; "" for no further search
    beside: list[str] = field(default_factory=list)  # the same in other words, which the library is searched for too
    tried: list[str] = field(default_factory=list)
    rounds: int = 0
    rewrites: int = 0
    outside: list[Outside] = field(default_factory=lambda: ["search_web"])  # what is searched beside the library
    web_failed: bool = False  # the web could not be searched
    mcp_failed: bool = False  # none of the MCP servers could be searched
    candidates: Annotated[list[SourceRow], add_found] = field(default_factory=list)
    graded: list[str] = field(default_factory=list)  # ids of the segments that were graded
    repeated: list[str] = field(default_factory=list)  # of those, the ids of segments that repeat the text of another
    sources: list[SourceRow] = field(default_factory=list)
    read: int = 0  # sources in which the writer found no answer
    nearest: list[NearPassage] = field(default_factory=list)  # what a refusal shows, likeliest first
    answerhood: float | None = None  # the chance that the sources answer the question, where the grader estimates it
    beyond_quotes: bool = False  # the question asks for more than the family can do, which only quotes

    sections: list[Section] = field(default_factory=list)
    claims: list[ClaimRow] = field(default_factory=list)
    checked: list[str] = field(
        default_factory=list
    )  # by section: what its claims were checked for, see answers.checking
    disputes: list[DisputeRow] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)
    repairing: list[int] = field(default_factory=list)  # failed sections to revise
    revisions: list[RevisionRow] = field(default_factory=list)
    repairs: int = 0
    withdrawn: int = 0  # failed claims that were cut out of the answer
    fallback: Failure | None = None  # a fallback not yet in any event; the last event reports it

    pages: PagesRead | None = None  # what was read of the selected documents
    refusal: Refusal | None = None
    assessment: Assessment | None = None
    outcome: Literal["", "answered", "abstained"] = ""
    stop_reason: StopReason | Literal[""] = ""
    exhausted: Annotated[str, last_cap] = ""  # the cap that was reached first
    spent: Annotated[dict[str, Spent], replace_spent] = field(default_factory=dict)
    # Texts by segment id, for a person who watches a run in Studio; never in a checkpoint.
    passages: Annotated[dict[str, str], UntrackedValue] = field(default_factory=dict)


# The fields that decide_retrieval sets anew.
OF_A_RUN = tuple(
    {*State.__dataclass_fields__} - {*InputState.__dataclass_fields__, "passages"} | {"question", "history"}
)


def question_with_passage(state: State) -> str:
    """Return the standalone question, followed by the passage that the reader selected, if any."""
    if not state.selected_text:
        return state.standalone_question
    return f"{state.standalone_question}\n\n“{state.selected_text}”"


def _reducers() -> dict[str, Callable[[Any, Any], Any]]:
    """Return how channels add to what they hold, by field; the channel of any other field takes the new value."""
    hints = get_type_hints(State, include_extras=True)
    found = {name: getattr(hint, "__metadata__", (None,))[-1] for name, hint in hints.items()}
    return {name: how for name, how in found.items() if callable(how) and not isinstance(how, type)}


REDUCERS = _reducers()
ADVANCED_KEY = "citewell_advanced"  # in a run's configurable: what is told the state behind each of its steps


def advanced(state: State, update: Mapping[str, Any]) -> State:
    """Return the state after a step's update, as the channels of the graph make it."""
    return replace(state, **{name: _after(name, getattr(state, name), value) for name, value in update.items()})


def altered(state: State, update: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of an update that is not so already.

    A channel that nobody writes is in no checkpoint, and in none of LangGraph's tables for a run.
    """
    return {name: value for name, value in update.items() if getattr(state, name) != value}


def _after(name: str, before: Any, value: Any) -> Any:
    if isinstance(value, Overwrite):
        return value.value
    return REDUCERS[name](before, value) if name in REDUCERS else value


def written_as(state: State, names: Iterable[str]) -> dict[str, Any]:
    """Return an update that writes fields as they are in ``state``."""
    values = {name: getattr(state, name) for name in sorted(names)}
    return {name: Overwrite(value) if name in REDUCERS else value for name, value in values.items()}
