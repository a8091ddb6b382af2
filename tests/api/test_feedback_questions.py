"""What readers say of answers becomes questions of a data set, which runs as any other does."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from evals.feedback_questions import FeedbackReader, QuestionFolder, Written
from evals.sets.own import load_own
from graph.entrypoint import Citewell
from graph.errors import InvalidRequest
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, LIBRARY, new_session
from tools.library.ingestion import NewDocument

LEAVE = "How many days of annual leave does an employee get?"
NOTICE = "How long is the notice period?"
BIRDS = "Which birds nest on the lighthouse chimney?"


async def judged(client: httpx.AsyncClient, question: str, session: str, **feedback: Any) -> str:
    """Ask, and say what the answer is worth; gives the id of its question."""
    body = {"question": question, "stream": False}
    message: str = (await client.post(f"/api/sessions/{session}/runs", json=body)).json()["message_id"]
    given = await client.post(f"/api/sessions/{session}/messages/{message}/feedback", json=feedback)
    assert given.status_code == 200, given.text
    return f"feedback-{message}"


def reader(citewell: Citewell, user: str | None = None) -> FeedbackReader:
    return FeedbackReader(citewell.library.database, citewell.library.workspaces, "default", user)


def rows(file: Path) -> dict[str, dict[str, Any]]:
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return {row["id"]: row for row in map(json.loads, lines)}


async def test_good_answers_are_questions_and_poor_ones_wait_for_somebody(
    citewell: Citewell, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    session = await new_session(client)
    good = await judged(client, LEAVE, session, rating="up")
    poor = await judged(client, NOTICE, session, rating="down", reason_code="wrong", text="It is\nfour months.")
    refused = await judged(client, BIRDS, await new_session(client), rating="up")
    await judged(client, "Hello!", await new_session(client), rating="up")
    file = tmp_path / "mine" / "questions-feedback.jsonl"
    assert await reader(citewell).add_to(QuestionFolder(file)) == Written(2, 1, 1)
    ready, review = rows(file), rows(file.with_name("review-feedback.jsonl"))
    assert ready[good]["evidence"] == [
        [{"document": HANDBOOK, "quote": "Every employee gets 25 days of annual leave a year."}]
    ]
    assert (ready[good]["language"], ready[good]["kind"]) == ("en", "feedback")
    assert ready[refused]["expected"] == "abstained"
    assert (review[poor]["before"], review[poor]["evidence"]) == ([LEAVE], [])
    assert "wrong; It is four months.; the answer was “The notice period" in review[poor]["note"]
    loaded = load_own(file.parent)
    assert [case.case_id for case in loaded.cases] == [good, refused]
    assert "It is one month during probation." in loaded.documents[0].text

    # Again: nothing is written twice, and what somebody wrote stays, in whichever file it is.
    written = {**review[poor], "evidence": [[{"document": HANDBOOK, "quote": "The notice period is three months."}]]}
    file.with_name("questions-done.jsonl").write_text(json.dumps(written), "utf-8")
    file.with_name("review-feedback.jsonl").unlink()
    before = file.read_text("utf-8")
    assert await reader(citewell).add_to(QuestionFolder(file)) == Written(0, 0, 0)
    assert file.read_text("utf-8") == before
    assert len(load_own(file.parent).cases) == 3
    assert await reader(citewell).add_to(QuestionFolder(file), whole_library=True) == Written(0, 0, 1)


async def test_a_quote_that_is_gone_from_the_text_is_no_evidence(
    citewell: Citewell, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    good = await judged(client, LEAVE, await new_session(client), rating="up")
    changed = replace(LIBRARY[0], text="# Leave\n\nEvery employee gets 28 days of annual leave a year.\n")
    await citewell.library.ingestor.ingest(Identity(), changed)
    file = tmp_path / "questions.jsonl"
    assert await reader(citewell).add_to(QuestionFolder(file)) == Written(0, 1, 0)
    assert list(rows(tmp_path / "review.jsonl")) == [good]


async def test_only_what_may_be_read_is_written(citewell: Citewell, client: httpx.AsyncClient, tmp_path: Path) -> None:
    secret = NewDocument(
        name="plan.md", title="Plan", text="The office moves to Askvik in June.\n", owner="local", readers=None
    )
    await citewell.library.ingestor.ingest(Identity(), secret)
    await judged(client, "Where does the office move to in June?", await new_session(client), rating="up")
    for_all, own = tmp_path / "all" / "questions.jsonl", tmp_path / "own" / "questions.jsonl"
    await reader(citewell).add_to(QuestionFolder(for_all), whole_library=True)
    assert "Askvik" not in "".join(each.read_text("utf-8") for each in for_all.parent.iterdir())
    assert await reader(citewell, "local").add_to(QuestionFolder(own)) == Written(1, 0, 1)
    assert "Askvik" in own.read_text("utf-8")
    assert await reader(citewell, "somebody").add_to(QuestionFolder(tmp_path / "questions.jsonl")) == Written(0, 0, 0)


@pytest.mark.parametrize("name", ["feedback.jsonl", "questions.json", "documents.jsonl"])
def test_a_file_that_the_set_would_not_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="is not read by"):
        QuestionFolder(tmp_path / name)
