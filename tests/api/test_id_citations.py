"""Seed 003: citations by segment ids, read as its viewer reads them, beside the raw text of each document."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from psycopg.types.json import Jsonb

from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, TRAVEL
from tests.api.reading import live_events, parse_frames, sweep_logs
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI, answer, status
from tools.library.ingestion import NewDocument

MESSAGES = "/api/workspaces/default/messages"
LEAVE = "How many days of annual leave does an employee get?"
EVENTS = {"accept": "text/event-stream"}


class NotebookClient:
    """The client that the seed describes: it polls for rows, and opens a bubble's segment in the raw text."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def send(self, content: str, **fields: Any) -> dict[str, Any]:
        """Send a message and give the row of its answer, still to come."""
        response = await self._client.post(MESSAGES, json={"content": content, **fields})
        assert response.status_code == 202, response.text
        asked, coming = response.json()["messages"]
        assert (asked["role"], asked["type"], asked["content"]) == ("user", "user", content)
        assert (coming["role"], coming["type"], coming["status"], coming["content"]) == (
            "assistant",
            "ai",
            "processing",
            "",
        )
        return dict(coming)

    async def rows(self) -> list[dict[str, Any]]:
        return list((await self._client.get(MESSAGES)).json()["messages"])

    async def answered(self, message_id: str) -> dict[str, Any]:
        """Poll until an answer is no longer being made."""
        async with asyncio.timeout(60):
            while True:
                row = next(row for row in await self.rows() if row["id"] == message_id)
                if row["status"] != "processing":
                    return row
                await asyncio.sleep(0.01)

    async def ask(self, content: str, **fields: Any) -> dict[str, Any]:
        return await self.answered((await self.send(content, **fields))["id"])

    async def open_bubble(self, citation: dict[str, Any]) -> dict[str, Any]:
        """Scroll the viewer to the segment that a citation names; every quote of it has to stand there."""
        raw = (await self._client.get(f"/api/documents/{citation['document_id']}/raw-text")).json()
        [segment] = [each for each in raw["segments"] if each["segment_index"] == citation["segment_index"]]
        assert segment["page_idx"] == citation["page_idx"]
        text = "".join(each["text"] for each in raw["segments"])
        for quote in citation["quotes"]:
            assert text[quote["start"] : quote["end"]] == quote["quote"]
            assert quote["quote"] in segment["text"]
        assert citation["snippet_preview"].removesuffix("...") in " ".join(segment["text"].split())
        return dict(segment)


@pytest.fixture
def notebook(client: httpx.AsyncClient) -> NotebookClient:
    return NotebookClient(client)


async def test_an_answer_is_made_in_the_background_and_read_later(notebook: NotebookClient) -> None:
    row = await notebook.ask(LEAVE)
    assert row["status"] == "completed"
    best = "Every employee gets 25 days of annual leave a year."
    assert row["content"] == f"{best} Unused leave lapses in March."
    [section] = row["metadata"]["sections"]
    assert section["text"] == row["content"]
    assert section["source_ids"] == [f"{HANDBOOK}:0"]
    [citation] = section["citations"]
    assert row["metadata"]["citations"] == [citation]
    assert citation["document_id"] == HANDBOOK
    assert citation["segment_index"] == 0
    assert citation["freshness"] == "fresh"
    [quote] = citation["quotes"]
    start, end = (quote["highlight"][edge] - quote["start"] for edge in ("start", "end"))
    assert (quote["quote"], quote["quote"][start:end]) == (row["content"], best)
    assert "25 days" in (await notebook.open_bubble(citation))["text"]
    assert row["metadata"]["outcome"] == "answered"


async def test_the_conversation_is_one_and_keeps_its_order_and_ids(
    notebook: NotebookClient, client: httpx.AsyncClient
) -> None:
    assert (await client.get(MESSAGES)).json() == {"messages": [], "next_cursor": None}
    sent = [await notebook.send(content) for content in ("Hello!", LEAVE, "How long is the notice period?")]
    told = [await notebook.answered(each["id"]) for each in sent]
    rows = await notebook.rows()
    assert [row["id"] for row in rows if row["type"] == "ai"] == [row["id"] for row in told]
    assert [row["content"] for row in rows if row["type"] == "user"][1:] == [LEAVE, "How long is the notice period?"]
    assert "three months" in told[2]["content"]
    page = (await client.get(MESSAGES, params={"limit": 2})).json()
    assert [row["id"] for row in page["messages"]] == [row["id"] for row in rows[-2:]]
    earlier = (await client.get(MESSAGES, params={"limit": 4, "cursor": page["next_cursor"]})).json()
    assert [row["id"] for row in earlier["messages"]] == [row["id"] for row in rows[:4]]


async def test_a_question_has_its_id_from_the_beginning(client: httpx.AsyncClient, notebook: NotebookClient) -> None:
    asked, coming = (await client.post(MESSAGES, json={"content": LEAVE})).json()["messages"]
    await notebook.answered(coming["id"])
    assert [row["id"] for row in await notebook.rows()] == [asked["id"], coming["id"]]


async def test_small_talk_and_refusals_cite_nothing(notebook: NotebookClient) -> None:
    for content, outcome in (("Hello!", "answered"), ("Who won the chess championship of 1972?", "abstained")):
        row = await notebook.ask(content)
        assert row["metadata"]["outcome"] == outcome
        assert row["metadata"]["citations"] == []
        [section] = row["metadata"]["sections"]
        assert (section["source_ids"], section["citations"]) == ([], [])
        assert row["content"] == section["text"]


@pytest.mark.parametrize("how", [{"json": {"content": LEAVE, "stream": True}}, {"headers": EVENTS}])
async def test_on_request_the_rows_are_streamed(
    client: httpx.AsyncClient, notebook: NotebookClient, how: dict[str, Any]
) -> None:
    response = await client.post(MESSAGES, **{"json": {"content": LEAVE}, **how})
    assert response.headers["content-type"].startswith("text/event-stream")
    frames = parse_frames(response.text)
    assert {frame["event"] for frame in frames} == {"messages"}
    told = [json.loads(frame["data"])["messages"] for frame in frames]
    assert [row["type"] for row in told[0]] == ["user", "ai"]
    assert {row["id"] for rows in told[1:] for row in rows} == {told[0][1]["id"]}
    assert [rows[-1]["status"] for rows in told] == ["processing"] * (len(told) - 1) + ["completed"]
    stored = await notebook.rows()
    assert [row["id"] for row in stored] == [row["id"] for row in told[0]]
    last, kept = told[-1][0], stored[1]
    for citation in [*kept["metadata"]["citations"], *kept["metadata"]["sections"][0]["citations"]]:
        citation.pop("freshness")
    assert {**last, "created_at": None} == {**kept, "created_at": None}


async def test_a_section_is_shown_when_it_is_proven(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    body = json.dumps(
        {
            "sections": [
                {"text": "Every employee gets 25 days of annual leave a year.", "source_ids": [f"{HANDBOOK}:0"]},
                {"text": "Unused leave lapses in March.", "source_ids": [f"{HANDBOOK}:0"]},
            ]
        }
    )
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say(body[:120]), hold, Say(body[120:])]), to="generate_answer")
    async with model_client.stream("POST", MESSAGES, json={"content": LEAVE, "stream": True}) as response:
        seen = []
        async for event in live_events(response):
            seen.append(event["messages"][-1])
            if len(seen) == 1:
                await asyncio.to_thread(hold.wait_reached)
                assert (await NotebookClient(model_client).rows())[1]["status"] == "processing"
                hold.release()
    counts = [len(row["metadata"]["sections"]) for row in seen]
    assert (counts[:3], set(counts[3:])) == ([0, 1, 2], {2})
    assert [row["status"] for row in seen] == ["processing"] * (len(seen) - 1) + ["completed"]


async def test_a_section_of_several_sources_has_a_bubble_for_each(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    both = "Every employee gets 25 days of annual leave a year. Second class is booked for trains."
    scripted_openai.script(
        answer({"text": both, "source_ids": [f"{HANDBOOK}:0", f"{TRAVEL}:0"]}, {"text": "So be it.", "source_ids": []}),
        to="generate_answer",
    )
    notebook = NotebookClient(model_client)
    row = await notebook.ask("How many days of annual leave, and which class is booked for trains?")
    first, without = row["metadata"]["sections"]
    assert without["text"] == "So be it."  # no id, and kept
    assert first["source_ids"] == [f"{HANDBOOK}:0", f"{TRAVEL}:0"]
    assert [(c["document_id"], c["segment_index"]) for c in first["citations"]] == [(HANDBOOK, 0), (TRAVEL, 0)]
    for citation in first["citations"]:
        await notebook.open_bubble(citation)
    assert row["metadata"]["citations"] == [*first["citations"], *without["citations"]]


async def test_what_is_being_answered_and_what_waits_are_among_the_messages(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold, Say('{"sections": []}')]), to="generate_answer")
    notebook = NotebookClient(model_client)
    first, second = await notebook.send(LEAVE), await notebook.send("Hello")
    await asyncio.to_thread(hold.wait_reached)
    rows = await notebook.rows()
    assert [(row["content"], row["status"]) for row in rows] == [
        (LEAVE, "completed"),
        ("", "processing"),
        ("Hello", "completed"),
        ("", "processing"),
    ]
    assert [row["id"] for row in rows if row["type"] == "ai"] == [first["id"], second["id"]]
    hold.release()
    await notebook.answered(second["id"])
    assert [row["id"] for row in await notebook.rows()] == [row["id"] for row in rows]


async def test_a_run_that_failed_is_shown_as_failed(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    scripted_openai.script(*[status(401, "secret-of-the-endpoint")] * 3, to="generate_answer")
    notebook = NotebookClient(model_client)
    row = await notebook.ask(LEAVE)
    assert (row["status"], row["content"], row["metadata"]["sections"]) == ("failed", "", [])
    assert row["metadata"]["error"]["code"] == "model_refused"
    assert row["metadata"]["error"]["retryable"] is False
    assert "secret-of-the-endpoint" not in json.dumps(row)
    after = await notebook.ask("Hello")
    rows = await notebook.rows()
    assert [(row["type"], row["status"]) for row in rows] == [
        ("user", "completed"),
        ("ai", "failed"),
        ("user", "completed"),
        ("ai", "completed"),
    ]
    assert [rows[1]["id"], rows[3]["id"]] == [row["id"], after["id"]]


async def test_a_run_that_was_cancelled_is_shown_as_cancelled(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold]), to="generate_answer")
    notebook = NotebookClient(model_client)
    coming = await notebook.send(LEAVE)
    await asyncio.to_thread(hold.wait_reached)
    assert (await model_client.post(f"/api/runs/{coming['run_id']}/cancel")).status_code == 200
    row = await notebook.answered(coming["id"])
    assert (row["status"], row["metadata"]["stop_reason"]) == ("cancelled", "cancel_requested")


async def test_a_reader_that_leaves_comes_back_to_the_rest(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold, Say('{"sections": []}')]), to="generate_answer")
    assert (await model_client.get(MESSAGES, headers=EVENTS)).status_code == 204
    async with model_client.stream("POST", MESSAGES, json={"content": LEAVE, "stream": True}) as response:
        async for event in live_events(response):
            coming = event["messages"][-1]
            break
    await asyncio.to_thread(hold.wait_reached)
    async with model_client.stream("GET", MESSAGES, headers=EVENTS) as response:
        seen = []
        async for event in live_events(response):
            seen.append([row["id"] for row in event["messages"]])
            if len(seen) == 1:
                hold.release()
    assert seen[0][1] == coming["id"]
    whole = await model_client.get(MESSAGES, headers={**EVENTS, "last-event-id": f"{coming['run_id']}:0"})
    frames = parse_frames(whole.text)
    for at, frame in enumerate(frames, start=1):
        rest = await model_client.get(MESSAGES, headers={**EVENTS, "last-event-id": frame["id"]})
        assert parse_frames(rest.text) == frames[at:]
        assert rest.status_code == (200 if frames[at:] else 204)


async def test_a_reader_that_comes_back_when_the_log_is_gone_is_told_the_stored_row(
    client: httpx.AsyncClient, notebook: NotebookClient, citewell: Citewell
) -> None:
    row = await notebook.ask(LEAVE)
    await sweep_logs(citewell)
    response = await client.get(MESSAGES, headers={**EVENTS, "last-event-id": f"{row['run_id']}:2"})
    [frame] = parse_frames(response.text)
    [told] = json.loads(frame["data"])["messages"]
    assert (told["id"], told["status"], told["content"]) == (row["id"], "completed", row["content"])


async def test_what_takes_a_quote_back_in_an_answer_of_an_earlier_release_is_still_told(
    notebook: NotebookClient, citewell: Citewell
) -> None:
    row = await notebook.ask(LEAVE)
    stored = [{"role": "governs", "start": 0, "end": 8, "text": "Repealed"}]
    async with citewell.library.database.connection() as connection:
        await connection.execute(
            "UPDATE messages SET body = jsonb_set(body, '{claims,0,citations,0,context}', %s) WHERE run_id = %s"
            " AND role = 'assistant'",
            [Jsonb(stored), row["run_id"]],
        )
    told = next(each for each in await notebook.rows() if each["id"] == row["id"])
    assert told["metadata"]["citations"][0]["quotes"][0]["context"] == stored


async def test_only_runs_of_this_conversation_are_followed_here(client: httpx.AsyncClient) -> None:
    session_id = (await client.post("/api/sessions", json={})).json()["session_id"]
    other = await client.post(f"/api/sessions/{session_id}/runs", json={"question": "Hello", "stream": False})
    await client.post(MESSAGES, json={"content": "Hello", "stream": True})
    header = {**EVENTS, "last-event-id": f"{other.json()['run_id']}:0"}
    assert (await client.get(MESSAGES, headers=header)).status_code == 404


async def test_a_conversation_may_be_begun_anew(client: httpx.AsyncClient, notebook: NotebookClient) -> None:
    path = "/api/workspaces/default/messages"
    assert (await client.delete(path)).status_code == 204, "there is none yet"
    await notebook.ask("How many days of annual leave does an employee get?")
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).json()["messages"] == []
    await notebook.ask("Which class is booked for trains?")
    assert len((await client.get(path)).json()["messages"]) == 2


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_another_workspace_is_not_there(client: httpx.AsyncClient, method: str) -> None:
    response = await client.request(method, "/api/workspaces/elsewhere/messages", json={"content": "Hello"})
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


async def test_what_is_sent_wrongly_is_named_and_what_is_unknown_is_passed_over(client: httpx.AsyncClient) -> None:
    for body, field in (({}, "content"), ({"content": " "}, "content"), ({"content": "x" * 10_001}, "content")):
        response = await client.post(MESSAGES, json=body)
        assert response.status_code == 422
        assert response.json()["detail"].startswith(f"{field}: ")
    assert (await client.post(MESSAGES, json={"content": "Hi", "document_ids": ["x"]})).status_code == 422
    assert (await client.post(MESSAGES, json={"content": "Hi", "model": "none such"})).status_code == 400
    accepted = await client.post(MESSAGES, json={"content": "Hello", "role": "user", "conversation": 7, "stream": True})
    assert accepted.status_code == 200


# Document AI: what the seed's own library is made of.

PAGES = [
    ["DANH SÁCH HỘI ĐỒNG THẨM ĐỊNH", "Hội đồng họp vào ngày 5 tháng 3 tại Hà Nội."],
    ["Chủ tịch hội đồng thẩm định là bà Trần Phương.", "Thư ký hội đồng là ông Lê Minh 😀."],
    ["Lệ phí thẩm định là 30 triệu đồng cho mỗi hồ sơ.", "Hồ sơ được trả lời trong vòng 20 ngày."],
]


def document_ai(pages: list[list[str]]) -> dict[str, Any]:
    """Lay out pages of paragraphs as Document AI does: one text, and anchors that point into it."""
    text, laid_out = "", []
    for number, paragraphs in enumerate(pages, start=1):
        parts = []
        for paragraph in paragraphs:
            anchor = {"text_segments": [{"start_index": str(len(text)), "end_index": str(len(text + paragraph) + 1)}]}
            parts.append({"layout": {"text_anchor": anchor}})
            text += paragraph + "\n"
        laid_out.append({"page_number": number, "paragraphs": parts})
    return {"text": text, "pages": laid_out}


async def upload(client: httpx.AsyncClient, pages: list[list[str]]) -> str:
    file = json.dumps(document_ai(pages), ensure_ascii=False).encode()
    response = await client.post(
        "/api/documents", data={"title": "Quyết định"}, files={"file": ("scan.json", file, "application/json")}
    )
    assert response.status_code == 201, response.text
    return str(response.json()["document_id"])


@pytest.fixture
async def scanned(client: httpx.AsyncClient) -> str:
    return await upload(client, PAGES)


async def test_raw_text_keeps_the_pages_of_document_ai(client: httpx.AsyncClient, scanned: str) -> None:
    raw = (await client.get(f"/api/documents/{scanned}/raw-text")).json()
    assert "".join(segment["text"] for segment in raw["segments"]) == document_ai(PAGES)["text"]
    for page_idx, paragraphs in enumerate(PAGES):
        text = "".join(segment["text"] for segment in raw["segments"] if segment["page_idx"] == page_idx)
        assert all(paragraph in text for paragraph in paragraphs)
    assert "[SEG=" not in json.dumps(raw)


@pytest.mark.parametrize("layer", ["paragraphs", "lines"])
async def test_each_paragraph_of_document_ai_is_a_segment(client: httpx.AsyncClient, layer: str) -> None:
    pages = [*PAGES, ["3", " ".join(f"Điều {n} quy định mẫu {n}." for n in range(400))]]
    laid_out = document_ai(pages)
    laid_out["pages"] = [{"page_number": each["page_number"], layer: each["paragraphs"]} for each in laid_out["pages"]]
    file = ("scan.json", json.dumps(laid_out).encode(), "application/json")
    document_id = (await client.post("/api/documents", files={"file": file})).json()["document_id"]
    segments = (await client.get(f"/api/documents/{document_id}/raw-text")).json()["segments"]
    paragraphs = [(at, paragraph) for at, page in enumerate(pages) for paragraph in page]
    short = [(segment["page_idx"], segment["text"].strip()) for segment in segments[:7]]
    assert short == paragraphs[:7]
    assert len(segments) > len(paragraphs), "one beyond the size is cut"
    assert {segment["page_idx"] for segment in segments[7:]} == {3}
    assert "".join(segment["text"] for segment in segments[7:]).strip() == paragraphs[7][1]


async def test_a_bubble_leads_to_the_segment_that_says_it(notebook: NotebookClient, scanned: str) -> None:
    for question, page_idx, said in (
        ("Ai là chủ tịch hội đồng thẩm định?", 1, "Trần Phương"),
        ("Lệ phí thẩm định là bao nhiêu?", 2, "30 triệu đồng"),
        ("Thư ký hội đồng là ai?", 1, "Lê Minh 😀"),
    ):
        row = await notebook.ask(question)
        assert said in row["content"]
        [citation] = [each for each in row["metadata"]["citations"] if said in each["snippet_preview"]]
        assert (citation["document_id"], citation["page_idx"]) == (scanned, page_idx)
        assert said in (await notebook.open_bubble(citation))["text"]


async def test_a_short_answer_cites_what_was_read_be_there_a_document_that_reads_alike(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    """The seed's complaint: guessed afterwards, a name alone is found in a heading, or in another document."""
    alike = [
        PAGES[0],
        [f"{PAGES[1][0][:-1]} ở Huế.", "Thư ký hội đồng là bà Mai Anh."],
        PAGES[2],
    ]  # copies are one source
    one, other = await upload(model_client, PAGES), await upload(model_client, alike)
    assert one != other
    notebook = NotebookClient(model_client)
    for document_id in (one, other):
        scripted_openai.script(
            answer({"text": "Trần Phương.", "source_ids": [f"{document_id}:2"]}), to="generate_answer"
        )
        row = await notebook.ask("Chủ tịch hội đồng thẩm định là ai?")
        [citation] = row["metadata"]["citations"]
        assert (citation["document_id"], citation["page_idx"]) == (document_id, 1)
        assert "Trần Phương" in (await notebook.open_bubble(citation))["text"]


@pytest.mark.parametrize("picked", [True, False])
async def test_a_question_about_a_page_is_answered_from_it(
    notebook: NotebookClient, scanned: str, picked: bool
) -> None:
    for question in ("Trang 3 nói gì?", "Lệ phí ở trang 3 là bao nhiêu?", "What does page 3 say?", "第三页说什么？"):
        row = await notebook.ask(question, document_ids=[scanned] if picked else [])
        cited = row["metadata"]["citations"]
        assert {(citation["document_id"], citation["page_idx"]) for citation in cited} == {(scanned, 2)}, question
        for citation in cited:
            await notebook.open_bubble(citation)


async def test_documents_that_are_picked_are_the_only_ones(notebook: NotebookClient, scanned: str) -> None:
    row = await notebook.ask(LEAVE, document_ids=[scanned])
    assert row["metadata"]["outcome"] == "abstained"


async def test_a_bubble_of_an_old_answer_leads_to_where_its_quote_stands_today(
    notebook: NotebookClient, citewell: Citewell
) -> None:
    row = await notebook.ask(LEAVE)
    long = "\n\n".join(f"Chapter {i}. {'Words of a chapter that was put before. ' * 40}" for i in range(6))
    text = f"# Before\n\n{long}\n\n# Leave\n\n{row['content']} Unused leave lapses in March.\n"
    await citewell.library.ingestor.ingest(Identity(), NewDocument(document_id=HANDBOOK, name="handbook.md", text=text))
    [citation] = (await notebook.answered(row["id"]))["metadata"]["citations"]
    assert citation["freshness"] == "moved"
    assert citation["segment_index"] > 0
    await notebook.open_bubble(citation)
    await citewell.library.documents.delete(Identity(), HANDBOOK)
    [citation] = (await notebook.answered(row["id"]))["metadata"]["citations"]
    assert citation["freshness"] == "deleted"
