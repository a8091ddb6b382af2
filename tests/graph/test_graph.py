"""The whole graph over small fakes: ways through it, what is told, and what a session carries on."""

import pytest

from graph.errors import DatabaseUnavailable, InvalidRequest
from graph.ports import DraftClosed, DraftOpened, DraftText
from tests.fakes import MemoryLibrary, ScriptedFamily, quote, segment
from tests.graph.asking import LEAVE, Asked, proven


async def test_a_question_is_searched_graded_written_and_proven() -> None:
    session = Asked()
    state = await session.ask("days of annual leave")
    assert state.outcome == "answered"
    assert session.steps == [
        "decide_retrieval",
        "search_segments",
        "grade_segments",
        "generate_answer",
        "check_claims",
        "assess_quality",
    ]
    assert proven(state) == [("handbook:0", 0, 63, "supported")] * 2  # one passage, repeated in two sentences
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
        ("xyzzy", ScriptedFamily(), "nothing_relevant"),
        ("annual leave", ScriptedFamily(irrelevant=("handbook:0",)), "nothing_relevant"),
        ("annual leave", ScriptedFamily(drafts=[[]]), "insufficient_evidence"),
    ],
)
async def test_it_abstains_and_says_why(question: str, family: ScriptedFamily, reason: str) -> None:
    session = Asked(family=family)
    state = await session.ask(question)
    assert (state.outcome, state.stop_reason) == ("abstained", reason)
    assert state.claims == []
    text = state.sections[0]["text"]
    assert "library" in text
    assert "handbook" in text


async def test_it_abstains_where_nothing_is_found() -> None:
    state = await Asked(library=MemoryLibrary([])).ask("annual leave")
    assert (state.outcome, state.stop_reason, state.claims) == ("abstained", "nothing_found", [])
    assert "library" in state.sections[0]["text"]


@pytest.mark.parametrize("question", ["", " \n"])
async def test_a_missing_question_is_an_error(question: str) -> None:
    session = Asked()
    await session.ask("annual leave")
    with pytest.raises(InvalidRequest, match=r"^question: "):
        await session.ask(question)
    assert session.told("section_started") == []


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
        for name in ("candidates", "sources", "sections", "claims", "outcome", "asked"):
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


async def test_calls_are_charged_to_their_nodes() -> None:
    session = Asked()
    state = await session.ask("annual leave")
    assert {node: row["calls"] for node, row in state.spent.items()} == {
        "decide_retrieval": 1,
        "search_segments": 0,
        "grade_segments": 1,
        "generate_answer": 1,
        "check_claims": 0,
        "assess_quality": 0,
    }


async def test_a_section_that_cites_two_documents_is_proven_in_both() -> None:
    text = "Salaries are paid on the 28th. The kitchen closes at nine."
    session = Asked(family=ScriptedFamily(drafts=[quote(text, "handbook:1", "kitchen:0")]))
    state = await session.ask("salaries paid kitchen closes")
    assert [(row[0], row[3]) for row in proven(state)] == [("handbook:1", "supported"), ("kitchen:0", "supported")]


async def test_a_passage_that_is_repeated_grows_while_it_is_written_and_is_quoted_once() -> None:
    parts = ("Staff get 25 days of annual ", "leave. Unused days expire in ", "March. The kitchen is far away.")
    text = "".join(parts)
    drafts = [DraftOpened(source_ids=("handbook:0",)), *map(DraftText, parts), DraftClosed(text, ("handbook:0",))]
    session = Asked(family=ScriptedFamily(drafts=[drafts]))
    state = await session.ask("days of annual leave")
    told = [event.claim["citations"][0] for event in session.told("claim_checked")]
    assert [(each["start"], each["end"]) for each in told] == [(0, 34), (0, 63)]
    (checked,) = session.told("section_checked")
    assert [[(each["start"], each["end"]) for each in claim["citations"]] for claim in checked.claims[:2]] == [
        [(0, 63)],
        [(0, 63)],
    ]
    message = await session.message(state)
    assert [each["quote"] for each in message["citations"] if each["verdict"] == "supported"] == [LEAVE.text]
