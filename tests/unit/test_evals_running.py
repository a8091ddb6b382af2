"""Data sets run through the real graph over a real database: stopped and resumed, without documents, search alone."""

import json
import re
from pathlib import Path
from typing import cast

import pytest

from evals.cases import DataSet
from evals.dataset_store import stored_data_set
from evals.evaluation import evaluate, run_data_set
from evals.own_gate import judge_own
from evals.pacing import with_long_pool_timeout
from evals.planting import planting
from evals.records import Record, citations_of, is_marked
from evals.retrievers import VectorStoreSearcher, open_searcher, open_with_retriever, run_retrieval
from evals.run_folder import RunFolder, RunOptions
from evals.sets import load_data_set
from graph.entrypoint import open_citewell
from graph.errors import InvalidRequest, UnknownModel
from graph.ports import SearchQuery, SearchResult
from research.sets import union_set
from research.sets.clapnq import clapnq_set
from tests.unit.made_data_sets import write, write_all, write_lines
from tools.settings import Settings

MANUAL = Path(__file__).parents[2] / "docs" / "evaluation.md"
IN_TURN = RunOptions(concurrency=1)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The settings that evaluations are run with."""
    return with_long_pool_timeout(settings)


@pytest.fixture
def example(tmp_path: Path) -> DataSet:
    """The data set that the manual explains by example."""
    section = MANUAL.read_text(encoding="utf-8").split("\n## Your own questions\n")[1].split("\n## ")[0]
    files = re.findall(r"^`([\w./]+)`[^\n]*:\n\n```\w+\n(.*?)```", section, re.DOTALL | re.MULTILINE)
    for name, content in files:
        file = tmp_path / "mine" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    return load_data_set("own", tmp_path / "mine")


async def test_the_manuals_example_is_answered_and_refused_as_it_says(
    example: DataSet, settings: Settings, tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    folder = RunFolder(tmp_path / "run")
    async with open_citewell(settings) as citewell:
        metrics = await evaluate(
            citewell, example, RunOptions(removed=True), folder, progress=lambda done, of: told.append((done, of))
        )
        left = [workspace.name for workspace in await citewell.library.workspaces.list()]
    records = folder.records()
    assert {(record["case_id"], record["variant"]) for record in records} == {
        *((case.case_id, "asked") for case in example.cases),
        *((case.case_id, "removed") for case in example.cases if case.removal),
    }
    assert {record["case_id"]: record["outcome"] for record in records if record["variant"] == "asked"} == {
        case.case_id: case.expected for case in example.cases
    }
    assert {record["outcome"] for record in records if record["variant"] == "removed"} == {"abstained"}
    for record in records:
        assert all(citation["exact"] and citation["offered"] for citation in citations_of(record))
        if record["expected"] == "answered":
            cited = {(each["document"], index) for each in citations_of(record) for index in each["sentences"]}
            assert any({(gold["document"], gold["index"]) for gold in chosen} <= cited for chosen in record["evidence"])
    assert told == [(done, len(records)) for done in range(len(records) + 1)]
    assert metrics == folder.metrics()
    assert (metrics["questions"], metrics["all"]["quote_exactness"]["mean"]) == (len(records), 1.0)
    assert left == ["default"]


PLANTED = [
    {"text": "Everybody has 28 days of leave a year.", "faithful": True},
    {"text": "Everybody has 82 days of leave a year."},
    {"text": "Dogs are welcome in the canteen."},
]
BOUNDS = """
right = { least = 0.5 }
citation_faithfulness = { figure = 0.99 }
"""


async def test_a_set_of_ones_own_is_judged_by_bounds_of_ones_own_with_sentences_planted(
    example: DataSet, settings: Settings, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    with pytest.raises(InvalidRequest, match="--planted: no question of mine"):
        planting(example)
    lines = [json.loads(line) for line in (mine / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    write_lines(mine / "questions.jsonl", [{**lines[0], "planted": PLANTED}, *lines[1:]])
    write(tmp_path / "bounds.toml", BOUNDS)
    data, folder = load_data_set("own", mine), RunFolder(tmp_path / "run")
    judged = await judge_own(settings, data, RunOptions(planted=True), folder, tmp_path / "bounds.toml")
    (record,) = [each for each in folder.records() if "planted" in each]
    assert [section["text"] for section in record["written"]][-3:] == [each["text"] for each in PLANTED]
    marked = {claim["text"] for claim in record["claims"] if is_marked(claim)}
    assert PLANTED[0]["text"] in marked
    assert PLANTED[1]["text"] not in marked
    figures = folder.metrics()["all"]
    assert (figures["true_planted_marked"]["mean"], figures["false_planted_marked"]["n"]) == (1.0, 1)
    faults = {each.metric.name: bool(each.faults) for each in judged}
    assert faults == {"right": False, "citation_faithfulness": figures["citation_faithfulness"]["mean"] < 0.99}


class StoppedError(Exception):
    """What a test ends a run with."""


async def stop_after(
    count: int, data: DataSet, settings: Settings, folder: RunFolder, options: RunOptions = IN_TURN
) -> None:
    """Begin a run and end it as soon as so many questions are recorded."""

    def stop(done: int, of: int) -> None:
        if done == count:
            raise StoppedError

    async with open_citewell(settings) as citewell:
        with pytest.raises(StoppedError):
            await evaluate(citewell, data, options, folder, progress=stop)
        assert [workspace.name for workspace in await citewell.library.workspaces.list()] == ["default"]


async def test_a_run_that_was_stopped_goes_on_where_it_stood(
    example: DataSet, settings: Settings, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "run")
    await stop_after(2, example, settings, folder)
    before = (folder.path / "results.jsonl").read_bytes()
    torn = json.dumps({"case_id": example.cases[2].case_id, "variant": "asked"})[:-4]
    (folder.path / "results.jsonl").write_bytes(before + torn.encode())
    told: list[tuple[int, int]] = []
    async with open_citewell(settings) as citewell:
        metrics = await evaluate(citewell, example, IN_TURN, folder, progress=lambda done, of: told.append((done, of)))
    after = (folder.path / "results.jsonl").read_bytes()
    assert after.startswith(before)
    assert [record["case_id"] for record in folder.records()] == [case.case_id for case in example.cases]
    assert after.count(b"\n") == metrics["questions"] == len(example.cases)
    assert told == [(done, len(example.cases)) for done in range(2, len(example.cases) + 1)]


async def test_a_run_that_goes_on_asks_again_what_failed_for_a_reason_that_may_pass(
    example: DataSet, settings: Settings, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "run")
    passing, staying = (
        {"code": code, "message": "It failed.", "suggestion": "Ask again."}
        for code in ("database_unavailable", "model_refused")
    )
    async with open_citewell(settings) as citewell:
        await evaluate(citewell, example, IN_TURN, folder)
        first, second, *rest = folder.records()
        for record, error in ((first, passing), (second, staying)):
            folder.append(cast(Record, {**record, "outcome": "failed", "error": error}))
        metrics = await evaluate(citewell, example, IN_TURN, folder)
    again = {record["case_id"]: record for record in folder.records()}
    assert again[first["case_id"]]["answer"] == first["answer"]
    assert again[first["case_id"]]["error"] is None
    assert again[second["case_id"]]["error"] == staying
    assert [again[record["case_id"]] for record in rest] == rest
    assert metrics["all"]["failed_runs"]["mean"] == 1 / len(again)


async def test_an_unknown_model_is_told_before_anything_is_stored_or_written(
    example: DataSet, settings: Settings, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "run")
    async with open_citewell(settings) as citewell:
        with pytest.raises(UnknownModel, match="extractive"):
            await evaluate(citewell, example, RunOptions(model="extractiv"), folder)
    assert not folder.path.exists()


async def test_a_folder_goes_on_only_with_what_it_was_begun_with(
    example: DataSet, settings: Settings, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "run")
    await stop_after(1, example, settings, folder)
    before = (folder.path / "results.jsonl").read_bytes()
    async with open_citewell(settings) as citewell:
        with pytest.raises(InvalidRequest, match=r"another configuration: options.top_k: 10 / 5"):
            await evaluate(citewell, example, RunOptions(concurrency=1, top_k=5), folder)
        with pytest.raises(InvalidRequest, match=r"another configuration: data.digest: .*; data.questions: 5 / 2"):
            await evaluate(citewell, example.sample(2), IN_TURN, folder)
    async with open_citewell(settings.model_copy(update={"refuse_below": 0.1})) as citewell:
        with pytest.raises(InvalidRequest, match=r"another configuration: settings.refuse_below: [\d.]+ / 0.1"):
            await evaluate(citewell, example, IN_TURN, folder)
    assert (folder.path / "results.jsonl").read_bytes() == before


async def test_every_document_of_every_set_is_stored_as_its_loader_gives_it(settings: Settings, tmp_path: Path) -> None:
    union = union_set(write_all(tmp_path))
    async with open_citewell(settings) as citewell, stored_data_set(citewell.library, union) as (stored, identity):
        pages = await citewell.library.reader.read_pages(list(stored.ids.values()), identity)
    assert {stored.names[page.document_id]: "".join(segment.text for segment in page.segments) for page in pages} == {
        document.name: document.text for document in union.documents
    }


async def test_selected_pages_are_read_under_the_sets_own_names(settings: Settings, tmp_path: Path) -> None:
    data = clapnq_set(write_all(tmp_path) / "clapnq").sample(1)
    records: list[Record] = []
    async with open_citewell(settings.model_copy(update={"refuse_below": 0.0})) as citewell:
        await run_data_set(citewell, data, IN_TURN, records.append)
    (record,) = records
    assert [(page["document"], page["read"]) for page in record["pages_read"]] == [("0001", 1)]
    assert {source["document"] for source in record["sources"]} == {"0001"}
    assert record["retrieved"] == []


async def test_retrieval_alone_is_measured_over_everything(settings: Settings, tmp_path: Path) -> None:
    union = union_set(write_all(tmp_path))
    told: list[tuple[int, int]] = []
    async with open_citewell(settings) as citewell:
        report = await run_retrieval(citewell.library, union, progress=lambda done, of: told.append((done, of)))
    searched = [case for case in union.cases if case.evidence]
    assert (report["documents"], report["questions"]) == (len(union.documents), len(searched))
    assert told == [(done, len(searched)) for done in range(1, len(searched) + 1)]
    assert report["all"]["recall_at_10"]["n"] == len(searched)
    assert report["all"]["all_gold_at_10"]["n"] == sum(min(map(len, c.gold_documents)) > 1 for c in searched)
    assert report["by"]["set"]["xquad-vi"]["recall_at_1"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "n": 1}
    assert set(report["by"]) == {"set", "language", "kind"}


async def test_a_set_without_evidence_has_nothing_to_search_for(example: DataSet, settings: Settings) -> None:
    unknown = DataSet("unknown", example.documents, tuple(case for case in example.cases if not case.evidence))
    async with open_citewell(settings) as citewell:
        with pytest.raises(InvalidRequest, match="no question with evidence"):
            await run_retrieval(citewell.library, unknown)


async def test_another_retriever_is_measured_beside_ours(settings: Settings, tmp_path: Path) -> None:
    union = union_set(write_all(tmp_path))
    told: list[tuple[int, int]] = []
    async with open_citewell(settings) as citewell:
        report = await run_retrieval(
            citewell.library, union, retriever="langchain", progress=lambda done, of: told.append((done, of))
        )
        ours = await run_retrieval(citewell.library, union)
    assert report["retriever"] == "langchain"
    assert report["beside"] == {"all": ours["all"], "by": ours["by"]}
    assert report["all"].keys() == ours["all"].keys()
    assert report["by"].keys() == ours["by"].keys()
    assert told[-1] == (2 * report["questions"], 2 * report["questions"])


async def test_a_run_asks_the_retriever_that_was_chosen(
    example: DataSet, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[SearchQuery] = []
    search = VectorStoreSearcher.search

    async def spied(self: VectorStoreSearcher, query: SearchQuery) -> SearchResult:
        searched.append(query)
        return await search(self, query)

    monkeypatch.setattr(VectorStoreSearcher, "search", spied)
    records: list[Record] = []
    async with open_with_retriever(settings, "langchain") as citewell:
        await run_data_set(citewell, example, RunOptions(retriever="langchain"), records.append)
    assert {query.text for query in searched} >= {record["standalone_question"] for record in records}
    assert any(record["outcome"] == "answered" for record in records)
    assert all(0.0 <= segment["score"] <= 1.0 for record in records for segment in record["retrieved"])


async def test_the_vector_store_is_searched_as_the_port_says(example: DataSet, settings: Settings) -> None:
    question = example.cases[0].question
    async with (
        open_citewell(settings) as citewell,
        stored_data_set(citewell.library, example) as (_, identity),
        open_searcher(citewell.library, "langchain") as searcher,
    ):
        everything = (await searcher.search(SearchQuery(question, identity, min_score=0.0))).hits
        scores = [hit.score for hit in everything]
        assert len({hit.segment.document_id for hit in everything}) > 1
        assert scores == sorted(scores, reverse=True)
        least = (await searcher.search(SearchQuery(question, identity, min_score=scores[0]))).hits
        assert [hit.segment for hit in least] == [everything[0].segment]
        named = str(everything[-1].segment.document_id)
        within = (await searcher.search(SearchQuery(question, identity, min_score=0.0, document_ids=(named,)))).hits
        assert {hit.segment.document_id for hit in within} == {named}
        with pytest.raises(InvalidRequest, match="by space"):
            await searcher.search(SearchQuery(question, identity, spaces=("lamps",)))
