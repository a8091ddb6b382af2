"""The whole graph over small fakes: ways through it, what is told, and what a session carries on."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import build
from graph.context import Context
from graph.errors import BudgetExhausted, DatabaseUnavailable
from graph.events import AnyEvent
from graph.state import InputState, State
from tests.fakes import MemoryLibrary, ScriptedFamily, quote, resources, segment

LEAVE = segment("handbook", 0, "Staff get 25 days of annual leave. Unused days expire in March.")
PAY = segment("handbook", 1, "Salaries are paid on the 28th.", start=len(LEAVE.text))
FOOD = segment("kitchen", 0, "The kitchen closes at nine.")


@dataclass
class Asked:
    """Questions asked of one session, with what each run told."""

    library: MemoryLibrary = field(default_factory=lambda: MemoryLibrary([LEAVE, PAY, FOOD]))
    family: ScriptedFamily = field(default_factory=ScriptedFamily)
    events: list[AnyEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._graph = build(resources(self.library, self.family)).compile(checkpointer=InMemorySaver())

    async def ask(self, question: str, *, pages: list[str] | None = None, **knobs: Any) -> State:
        self.events.clear()
        state: State | None = None
        async for part in self._graph.astream(
            InputState(question=question, page_ids=pages or []),
            {"configurable": {"thread_id": "one"}},
            context=Context(**knobs),
            stream_mode=["custom", "values"],
            version="v2",
        ):
            if part["type"] == "custom":
                self.events.append(part["data"])
            else:
                state = part["data"]
        assert state is not None
        return state

    def told(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.type == kind]

    @property
    def steps(self) -> list[str]:
        return [event.step for event in self.told("step_started")]


async def test_a_question_is_searched_graded_written_and_proven() -> None:
    session = Asked()
    state = await session.ask("days of annual leave")
    assert state.outcome == "answered"
    assert session.steps == ["decide_retrieval", "search_segments", "grade_segments", "generate_answer"]
    assert [(row["start"], row["end"], row["verdict"]) for row in state.citations] == [
        (0, 34, "supported"),
        (35, 63, "supported"),
    ]
    assert "".join(event.delta for event in session.told("text_delta")) == LEAVE.text
    assert session.told("sources_graded")[0].sources[0]["excerpt"] == LEAVE.text


async def test_small_talk_gathers_nothing() -> None:
    session = Asked()
    state = await session.ask("hello")
    assert (state.outcome, state.stop_reason) == ("answered", "no_retrieval_needed")
    assert session.steps == ["decide_retrieval", "answer_directly"]
    assert session.library.queries == []


@pytest.mark.parametrize(
    ("question", "family", "reason"),
    [
        ("", ScriptedFamily(), "nothing_found"),
        ("xyzzy", ScriptedFamily(), "nothing_relevant"),
        ("annual leave", ScriptedFamily(irrelevant=("handbook:0",)), "nothing_relevant"),
        ("annual leave", ScriptedFamily(drafts=[[]]), "insufficient_evidence"),
    ],
)
async def test_it_abstains_and_says_why(question: str, family: ScriptedFamily, reason: str) -> None:
    session = Asked(family=family)
    state = await session.ask(question)
    assert (state.outcome, state.stop_reason) == ("abstained", reason)
    assert state.citations == []
    text = state.sections[0]["text"]
    assert "library" in text
    assert ("handbook" in text) == (reason != "nothing_found")


async def test_what_scores_too_low_is_dropped_unread_but_named_in_the_refusal() -> None:
    session = Asked()
    state = await session.ask("the opening hours of the sauna", min_score=0.5)
    assert {row["reason"] for row in session.told("sources_graded")[0].dropped} == {"scored below min_score"}
    assert state.spent["grade_segments"]["calls"] == 0
    assert "kitchen" in state.sections[0]["text"]


async def test_search_off_leaves_a_content_question_to_the_writer_or_abstains() -> None:
    state = await Asked().ask("annual leave", search="off")
    assert (state.outcome, state.stop_reason) == ("abstained", "library_not_allowed")


async def test_selected_pages_are_read_whole_beside_the_search() -> None:
    session = Asked()
    state = await session.ask("annual leave", pages=["kitchen", "gone"])
    assert set(session.steps[1:3]) == {"load_selected_pages", "search_segments"}
    (loaded,) = session.told("pages_loaded")
    assert [page["document_id"] for page in loaded.used] == ["kitchen"]
    assert loaded.unused == ["gone"]
    assert {row["segment_id"]: row["kind"] for row in state.sources} == {"kitchen:0": "page", "handbook:0": "search"}


async def test_only_selected_pages_keeps_the_search_within_them() -> None:
    session = Asked()
    await session.ask("annual leave", pages=["kitchen"], only_selected_pages=True)
    assert session.library.queries[0].document_ids == ("kitchen",)


async def test_a_page_over_the_budget_is_cut_and_said_so() -> None:
    session = Asked(library=MemoryLibrary([segment("long", i, "word " * 400, start=2000 * i) for i in range(4)]))
    await session.ask("word", pages=["long"], search="off", page_tokens=1000)
    (loaded,) = session.told("pages_loaded")
    assert loaded.cut == [{"document_id": "long", "title": "long", "segments": 2, "of": 4}]


async def test_nothing_of_a_run_leaks_into_the_next() -> None:
    questions = ["days of annual leave", "kitchen closes", "salaries paid"]
    session = Asked()
    for question in questions:
        together = await session.ask(question)
        alone = await Asked().ask(question)
        for name in ("candidates", "sources", "sections", "citations", "outcome", "asked"):
            assert getattr(together, name) == getattr(alone, name), name
        spent = {node: (row["calls"], row["tokens"]) for node, row in together.spent.items()}
        assert spent == {node: (row["calls"], row["tokens"]) for node, row in alone.spent.items()}
    assert [turn["question"] for turn in together.turns] == questions[:2]


async def test_six_turns_are_kept() -> None:
    session = Asked()
    for number in range(9):
        state = await session.ask(f"annual leave {number}")
    assert [turn["question"] for turn in state.turns] == [f"annual leave {number}" for number in range(2, 8)]


async def test_a_run_cut_off_leaves_no_turn() -> None:
    session = Asked()
    await session.ask("annual leave")
    session.library.failure = DatabaseUnavailable("gone")
    with pytest.raises(DatabaseUnavailable):
        await session.ask("kitchen closes")
    assert session.told("search_failed")[0].code == "database_unavailable"
    session.library.failure = None
    state = await session.ask("salaries paid")
    assert [turn["question"] for turn in state.turns] == ["annual leave"]


async def test_a_failing_search_leaves_the_selected_pages() -> None:
    session = Asked(library=MemoryLibrary([LEAVE], failure=DatabaseUnavailable("gone")))
    state = await session.ask("annual leave", pages=["handbook"])
    assert session.told("search_failed")
    assert state.outcome == "answered"


async def test_calls_are_charged_to_their_nodes_and_capped_for_the_run() -> None:
    session = Asked()
    state = await session.ask("annual leave")
    assert {node: row["calls"] for node, row in state.spent.items()} == {
        "decide_retrieval": 1,
        "search_segments": 0,
        "grade_segments": 1,
        "generate_answer": 1,
    }
    with pytest.raises(BudgetExhausted, match="model_calls"):
        await session.ask("annual leave", max_model_calls=2)


async def test_a_section_that_cites_two_documents_is_proven_in_both() -> None:
    text = "Salaries are paid on the 28th. The kitchen closes at nine."
    session = Asked(family=ScriptedFamily(drafts=[quote(text, "handbook:1", "kitchen:0")]))
    state = await session.ask("salaries paid kitchen closes")
    assert [(row["segment_id"], row["verdict"]) for row in state.citations] == [
        ("handbook:1", "supported"),
        ("kitchen:0", "supported"),
    ]
