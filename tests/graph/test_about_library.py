"""Questions about the library itself in the whole graph: no model is asked, nothing searched, documents are named."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from graph.evidence import Identity, LibraryQuestion
from graph.ports import ListedDocument, Listing, Preparation
from graph.rows import Turn
from tests.fakes import MemoryLibrary, ScriptedFamily
from tests.graph.asking import FOOD, LEAVE, Asked
from tools.rules.library_questions import after_listing, library_question

DAY = datetime(2026, 3, 18, tzinfo=UTC)


@dataclass
class MemoryCatalogue:
    """A catalogue of two documents that recognises questions by the product's own rules."""

    scopes: list[Sequence[str]] = field(default_factory=list)

    async def recognise(
        self,
        question: str,
        turns: Sequence[Turn],
        identity: Identity,
        *,
        spaces: Sequence[str] = (),
        alone: bool = True,
    ) -> LibraryQuestion | None:
        return library_question(question, after_listing=after_listing(turns), alone=alone)

    async def list(
        self, asked: LibraryQuestion, identity: Identity, *, spaces: Sequence[str] = (), most: int = 20
    ) -> Listing:
        self.scopes.append(spaces)
        both = [ListedDocument(name, name.title(), "", DAY, DAY) for name in ("handbook", "kitchen")]
        return Listing(tuple(both), 7)


def session() -> Asked:
    return Asked(MemoryLibrary([LEAVE, FOOD]), ScriptedFamily(), ports={"catalogue": MemoryCatalogue()})


async def test_it_is_answered_at_once_with_documents_as_sources() -> None:
    asked = session()
    state = await asked.ask("How many documents do I have?")
    assert asked.steps == ["decide_retrieval", "answer_directly"]
    assert (state.outcome, state.stop_reason) == ("answered", "answered_from_catalogue")
    assert sum(spent["calls"] for spent in state.spent.values()) == 0
    (decided,) = asked.told("retrieval_decided")
    assert (decided.intent, decided.needs_retrieval) == ("about_library", False)
    assert "library itself" in decided.reason
    (graded,) = asked.told("sources_graded")
    assert [source["title"] for source in graded.sources] == ["handbook", "kitchen"]
    message = await asked.message(state)
    assert message["sources"] == graded.sources
    assert message["answer"].startswith("Your library holds 7 documents")
    assert message["answer"].endswith("And 5 more.")


async def test_a_follow_up_lists_again_and_a_question_after_it_is_searched_for() -> None:
    asked = session()
    await asked.ask("How many documents do I have?")
    state = await asked.ask("And which of them changed last?")
    assert state.stop_reason == "answered_from_catalogue"
    state = await asked.ask("staff get days of annual leave", min_score=0.3)
    assert (state.stop_reason, state.about_library) == ("answer_complete", None)
    assert "search_segments" in asked.steps
    state = await asked.ask("And which of them changed last?", min_score=0.0)
    assert state.intent == "content_query"


async def test_neither_a_search_that_is_off_nor_a_model_of_its_own_hides_the_catalogue() -> None:
    for knobs in ({"search": "off"}, {"answer_from": "model"}, {"search": "always"}):
        assert (await session().ask("list my files", **knobs)).stop_reason == "answered_from_catalogue"


async def test_what_may_mean_the_selected_page_is_asked_of_it() -> None:
    asked = session()
    state = await asked.ask("What changed last week?", pages=["handbook"])
    assert state.intent == "content_query"
    state = await asked.ask("list my files", pages=["handbook"], only_selected_pages=True)
    assert state.intent == "content_query"


async def test_it_keeps_to_the_spaces_of_the_run() -> None:
    catalogue = MemoryCatalogue()
    asked = Asked(MemoryLibrary([LEAVE, FOOD]), ScriptedFamily(), ports={"catalogue": catalogue})
    await asked.ask("list my files", spaces=["people"])
    assert catalogue.scopes == [["people"]]


async def test_a_follow_up_of_a_follow_up_is_about_the_library_too() -> None:
    asked = session()
    for question in (
        "How many documents are there?",
        "Which of them are PDFs?",
        "And which of them changed last week?",
    ):
        assert (await asked.ask(question)).stop_reason == "answered_from_catalogue"
    state = await asked.ask("thank you")
    assert [turn.get("from_catalogue") for turn in state.turns] == [True, True, True]


async def test_a_client_that_sends_its_history_may_follow_up_too() -> None:
    told = ["How many documents are there?", "Which of them are PDFs?"]
    history = [Turn(question=each, standalone_question=each, answer="Two.") for each in told]
    state = await session().ask("And which of them changed last week?", history=history)
    assert state.stop_reason == "answered_from_catalogue"


class FamilyThatTellsOrders(ScriptedFamily):
    """A family whose model knows orders for which the rules have no word."""

    async def prepare(self, *asked: Any, **how: Any) -> Preparation:
        prepared = await super().prepare(*asked, **how)
        return replace(prepared, needs_retrieval=False, about_library="edit")


async def test_an_order_that_the_model_tells_is_answered_at_once_unless_only_pages_may_answer() -> None:
    ports = {"catalogue": MemoryCatalogue()}
    asked = Asked(MemoryLibrary([LEAVE, FOOD]), FamilyThatTellsOrders(), ports=ports)
    state = await asked.ask("bin the stale drafts")
    assert (state.stop_reason, state.intent) == ("answered_from_catalogue", "about_library")
    assert state.about_library is not None
    assert state.about_library["asks"] == "edit"
    state = await asked.ask("bin the stale drafts", pages=["handbook"], only_selected_pages=True)
    assert (state.about_library, state.intent, state.needs_retrieval) == (None, "content_query", True)
