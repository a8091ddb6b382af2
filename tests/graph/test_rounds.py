"""Where a run looks, in which order, and what another query brings."""

import pytest

from graph.context import Context
from graph.errors import WebUnavailable, fallback_failure
from graph.events import SearchFailed, SourcesFound
from graph.ports import Resources, Rewriting, ServerFailure
from graph.routing import gathering_rounds
from graph.state import State
from tests.fakes import MemoryLibrary, MemoryMcp, MemoryWeb, ScriptedFamily, ScriptedRewriter, segment
from tests.graph.asking import LEAVE, PAY, Asked
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import extractive_family

BLOG = segment("blog", 0, "The sauna opens at seven.")


def with_web(**web: object) -> Asked:
    """Make a session that can search the web."""
    library = MemoryLibrary([LEAVE, PAY])
    return Asked(library=library, ports={"web": MemoryWeb(library, [BLOG], **web)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (Context(), [["load_selected_pages", "search_segments"]]),
        (Context(web="also"), [["load_selected_pages", "search_segments", "search_web"]]),
        (Context(web="fallback"), [["load_selected_pages", "search_segments"], ["search_web"]]),
        (Context(web="first"), [["search_web"], ["load_selected_pages", "search_segments"]]),
        (Context(web="first", search="off"), [["search_web"], ["load_selected_pages"]]),
        (Context(web="also", only_selected_pages=True), [["load_selected_pages", "search_segments"]]),
        (Context(search="off"), [["load_selected_pages"]]),
    ],
)
def test_rounds(context: Context, expected: list[list[str]]) -> None:
    assert gathering_rounds(State(page_ids=["handbook"]), context) == expected


def test_limited_to_selected_pages_a_run_that_selects_none_searches_nothing() -> None:
    assert gathering_rounds(State(), Context(only_selected_pages=True, web="also")) == []
    assert gathering_rounds(State(selected_text="x"), Context(only_selected_pages=True)) == [["load_selected_pages"]]


async def test_limited_to_selected_pages_without_any_the_run_refuses_and_reads_nothing() -> None:
    session = with_web()
    state = await session.ask("annual leave", only_selected_pages=True)
    assert (state.outcome, state.stop_reason, state.candidates) == ("abstained", "library_not_allowed", [])


def test_a_marked_passage_is_loaded_in_the_first_round() -> None:
    assert gathering_rounds(State(selected_text="x"), Context(web="first")) == [
        ["load_selected_pages", "search_web"],
        ["search_segments"],
    ]


async def test_also_asks_library_and_web_side_by_side() -> None:
    session = with_web()
    state = await session.ask("annual leave", web="also")
    assert set(session.steps[1:3]) == {"search_segments", "search_web"}
    assert {row["segment_id"]: row["kind"] for row in state.sources} == {"handbook:0": "search", "blog:0": "web"}


async def test_fallback_asks_the_web_only_where_the_library_kept_nothing() -> None:
    session = with_web()
    await session.ask("annual leave", web="fallback")
    assert "search_web" not in session.steps
    state = await session.ask("the sauna opens", web="fallback", min_score=0.5)
    assert session.steps[1:5] == ["search_segments", "grade_segments", "search_web", "grade_segments"]
    assert (state.outcome, state.rewrites) == ("answered", 0)
    assert [source["segment_id"] for source in (await session.message(state))["sources"]] == ["blog:0"]


async def test_first_asks_the_library_only_where_the_web_kept_nothing() -> None:
    session = with_web()
    await session.ask("the sauna opens", web="first")
    assert "search_segments" not in session.steps
    session = with_web(failure=WebUnavailable("the search endpoint is down"))
    state = await session.ask("annual leave", web="first")
    assert (session.told("search_failed")[0].kind, session.told("search_failed")[0].code) == ("web", "web_unavailable")
    assert state.outcome == "answered"


@pytest.mark.parametrize("web", ["also", "first", "fallback"])
async def test_the_web_is_asked_where_the_library_is_off(web: str) -> None:
    library = MemoryLibrary([LEAVE])
    extractive = extractive_family(checker=CodeChecker())
    searched = MemoryWeb(library, [BLOG])
    session = Asked(
        library,
        of=Resources(library, library, lambda model, *, thinking=False: extractive, web=searched),
    )
    state = await session.ask("When does the sauna open?", search="off", web=web)
    assert "search_segments" not in session.steps
    assert [row["segment_id"] for row in state.sources] == ["blog:0"]


async def test_why_there_is_no_other_query_is_said_by_the_refusal() -> None:
    class Deserted(ScriptedRewriter):
        async def rewrite(self, question, tried, *, languages, meter):  # type: ignore[no-untyped-def]
            return Rewriting("", "", fallback_failure(WebUnavailable("no reply"), "The query was rewritten by rule."))

    session = Asked(ports={"rewriter": Deserted()})
    state = await session.ask("remuneration", min_score=0.5)
    assert state.outcome == "abstained"
    assert "by rule" in session.told("section_started")[0].fallback["message"]


async def test_a_web_that_is_not_configured_is_said_and_the_library_answers() -> None:
    session = Asked()
    state = await session.ask("annual leave", web="also")
    (failed,) = session.told("search_failed")
    assert "SERPER_API_KEY" in failed.message
    assert state.outcome == "answered"


async def test_a_question_that_finds_nothing_is_worded_anew_once() -> None:
    rewriter = ScriptedRewriter(["salaries are paid", "never asked"])
    session = Asked(ports={"rewriter": rewriter})
    state = await session.ask("remuneration", min_score=0.5)
    (rewritten,) = session.told("query_rewritten")
    assert (rewritten.query, rewritten.attempt) == ("salaries are paid", 1)
    assert (state.outcome, state.rewrites, rewriter.asked) == ("answered", 1, 1)
    assert [source["segment_id"] for source in (await session.message(state))["sources"]] == ["handbook:1"]


async def test_a_writer_of_queries_that_never_finds_is_bounded() -> None:
    rewriter = ScriptedRewriter([f"query {number}" for number in range(99)])
    session = Asked(ports={"rewriter": rewriter})
    state = await session.ask("remuneration", max_rewrites=2)
    assert (state.outcome, rewriter.asked) == ("abstained", 2)
    assert "“remuneration”; “query 0”; “query 1”" in state.sections[0]["text"], "it says what was searched for"


async def test_a_rewriting_that_was_tried_before_ends_the_search() -> None:
    session = Asked(ports={"rewriter": ScriptedRewriter(["remuneration"])})
    state = await session.ask("remuneration", max_rewrites=2)
    assert state.outcome == "abstained"
    assert len(session.library.queries) == 1
    assert session.told("query_rewritten") == []


async def test_selected_pages_alone_are_not_searched_for_another_query() -> None:
    rewriter = ScriptedRewriter(["salaries are paid"])
    session = Asked(family=ScriptedFamily(drafts=[[]]), ports={"rewriter": rewriter})
    state = await session.ask("sauna", pages=["handbook"], search="off")
    assert (state.outcome, state.stop_reason, rewriter.asked) == ("abstained", "insufficient_evidence", 0)


async def test_a_grader_that_flip_flops_cannot_take_back_what_it_kept() -> None:
    class Flipping(ScriptedFamily):
        async def grade(self, question, candidates, *, meter):  # type: ignore[no-untyped-def]
            self.irrelevant = tuple(ids[0] for ids in self.graded if ids)
            return await super().grade(question, candidates, meter=meter)

    session = Asked(family=Flipping(drafts=[[]]))
    state = await session.ask("annual leave", max_rewrites=2)
    indices = [[source["index"] for source in event.sources] for event in session.told("sources_graded")]
    assert all(each == list(range(1, len(each) + 1)) for each in indices)
    assert state.outcome == "abstained"


OUT = ServerFailure("wiki", "mcp_unavailable", "wiki: its server cannot be asked (ConnectError).")


def with_servers(*, web: bool = False, **mcp: object) -> tuple[Asked, MemoryMcp]:
    """Make a session that can search an MCP server, and the web too where it says so."""
    library = MemoryLibrary([LEAVE, PAY])
    searched = MemoryMcp(library, [BLOG], **mcp)  # type: ignore[arg-type]
    ports = {"mcp": searched, **({"web": MemoryWeb(library, [])} if web else {})}
    return Asked(library=library, ports=ports), searched


@pytest.mark.parametrize("mode", ["also", "first", "fallback"])
async def test_servers_are_asked_where_the_web_is_and_in_its_round(mode: str) -> None:
    session, searched = with_servers(web=True)
    state = await session.ask("the sauna opens", web=mode, min_score=0.5)
    assert searched.queries == ["the sauna opens"]
    assert [row["segment_id"] for row in state.sources] == ["blog:0"]
    found = [event for event in session.events if isinstance(event, SourcesFound) and event.kind == "web"]
    assert sorted((event.servers, event.count) for event in found) == [([], 0), (["wiki"], 1)]
    assert state.rounds == (2 if mode == "fallback" else 1)


async def test_without_a_web_the_servers_are_all_that_is_searched_outside() -> None:
    session, searched = with_servers()
    state = await session.ask("annual leave", web="also")
    assert (state.outside, state.outcome) == (["search_mcp"], "answered")
    assert not [event for event in session.events if isinstance(event, SearchFailed)]
    await session.ask("annual leave")
    assert len(searched.queries) == 1  # not with `web: off`


async def test_servers_that_fail_are_told_and_asked_once_in_a_run() -> None:
    session, searched = with_servers(failure=OUT)
    state = await session.ask("the sauna opens", web="also", min_score=0.9)
    [told] = [event for event in session.events if isinstance(event, SearchFailed)]
    assert (told.kind, told.code, told.message, told.servers) == ("web", OUT.code, OUT.message, ["wiki"])
    assert (state.mcp_failed, state.outcome, len(searched.queries)) == (True, "abstained", 1)
    assert "web" in state.sections[-1]["text"]  # which could not be searched
    again = await session.ask("annual leave", web="also")
    assert (again.outcome, len(searched.queries)) == ("answered", 2)
