"""XQuAD with and without the paragraph that answers, on a small file through the real graph and a real database."""

import json
from pathlib import Path

import pytest

from evals.paired import run_paired
from evals.removal import without_document
from evals.workspace import ingest_texts, throwaway_workspace
from graph.entrypoint import open_citewell
from graph.ports import SearchQuery
from tools.ingestion import NewDocument
from tools.settings import Settings

TEXTS = (
    "The town lies on a river. The Cedar Bridge was finished in 1911. It carries two lanes.",
    "The bakery in Mill Lane opens at six. It sells rye bread on Fridays. The oven is old.",
    "The lighthouse on Gull Island is lit by a lamp of nine lenses. A keeper lived in it until 1974.",
)
QUESTIONS = (
    ("When was the Cedar Bridge finished?", "1911"),
    ("When does the bakery in Mill Lane open?", "six"),
    ("How many lenses has the lamp of the lighthouse on Gull Island?", "nine"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    paragraphs = [
        {"context": text, "qas": [{"question": question, "answers": [{"text": answer}]}]}
        for text, (question, answer) in zip(TEXTS, QUESTIONS, strict=True)
    ]
    file = tmp_path / "en.json"
    file.write_text(json.dumps({"data": [{"title": "Town", "paragraphs": paragraphs}]}))
    return file


async def test_every_question_is_asked_with_its_paragraph_and_without(path: Path, settings: Settings) -> None:
    told: list[tuple[int, int]] = []
    async with open_citewell(settings) as citewell:
        report = await run_paired(citewell, path, progress=lambda done, of: told.append((done, of)))
        left = [workspace.name for workspace in await citewell.library.workspaces.list()]
    assert (report["questions"], report["refuse_below"]) == (3, settings.refuse_below)
    assert (report["kept"], report["refused"]) == (1.0, 1.0)
    assert (report["balanced_accuracy"], report["order_right"]) == (1.0, 1.0)
    assert told == [(done, 6) for done in range(1, 7)]
    assert left == ["default"]


async def test_where_nothing_is_refused_chances_still_tell(path: Path, settings: Settings) -> None:
    async with open_citewell(settings.model_copy(update={"refuse_below": 0.0})) as citewell:
        report = await run_paired(citewell, path)
    assert (report["kept"], report["order_right"]) == (1.0, 1.0)
    assert report["balanced_accuracy"] == (report["kept"] + report["refused"]) / 2


async def test_a_document_that_is_left_out_is_in_no_statistic(settings: Settings) -> None:
    """Search without it scores as in a library that never had it, and with it again as before."""
    document = NewDocument(text=TEXTS[0], title="1", document_id="0f6ab1a4-6a33-4ad5-9e0e-3a4a5e8f2b10")
    async with open_citewell(settings) as citewell:
        library = citewell.library

        async with throwaway_workspace(library, "left-out") as identity, throwaway_workspace(library, "never") as other:
            query = SearchQuery("When was the bakery by the Cedar Bridge finished?", identity, min_score=0.0)
            elsewhere = SearchQuery(query.text, other, min_score=0.0)
            for each in (identity, other):
                await ingest_texts(library, each, TEXTS[1:], ["2", "3"])
            never = [hit.score for hit in (await library.searcher.search(elsewhere)).hits]
            async for _ in library.ingestor.ingest_many(identity, [document]):
                pass
            before = [hit.score for hit in (await library.searcher.search(query)).hits]
            async with without_document(library, identity, document):
                without = [hit.score for hit in (await library.searcher.search(query)).hits]
            after = [hit.score for hit in (await library.searcher.search(query)).hits]
    assert without == pytest.approx(never)
    assert before == pytest.approx(after)
    assert len(before) == len(without) + 1
