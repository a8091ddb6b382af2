"""Notes over HTTP: pinned with proof, looked up again on reading, shared, exported."""

from io import BytesIO
from typing import Any
from uuid import uuid4
from zipfile import ZipFile

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, TRAVEL, new_session
from tests.api.serving import client_of
from tools.library.ingestion import NewDocument
from tools.settings import Settings

QUESTION = "How many days of annual leave does an employee get?"
LEAVE = "Every employee gets 25 days of annual leave a year."


async def asked(client: httpx.AsyncClient, question: str = QUESTION) -> dict[str, str]:
    session_id = await new_session(client)
    run = await client.post(f"/api/sessions/{session_id}/runs", json={"question": question, "stream": False})
    assert run.json()["outcome"] == "answered", run.text
    return {"session_id": session_id, "message_id": run.json()["message_id"]}


async def made(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    reply = await client.post("/api/notes", json=fields)
    assert reply.status_code == 201, reply.text
    return dict(reply.json())


async def read(client: httpx.AsyncClient, note_id: str) -> dict[str, Any]:
    reply = await client.get(f"/api/notes/{note_id}")
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def quotes(entry: dict[str, Any]) -> list[str]:
    return [each["quote"] for claim in entry["claims"] for each in claim["citations"]]


async def put(client: httpx.AsyncClient, document_id: str, text: str) -> None:
    body = {"title": "Staff handbook", "text": text, "media_type": "text/markdown"}
    stored = await client.put(f"/api/documents/{document_id}", json=body)
    assert stored.status_code == 200, stored.text


async def test_an_answer_a_part_of_it_and_a_passage_are_pinned_with_their_proof(client: httpx.AsyncClient) -> None:
    answer = await asked(client)
    note = await made(client, entry=answer)
    assert (note["title"], note["entries"], note["is_own"]) == (QUESTION, 1, True)
    path = f"/api/notes/{note['note_id']}/entries"
    passage = {"document_id": HANDBOOK, "quote": "It is one month\nduring probation."}
    for entry in (answer | {"section": 0, "start": 0}, passage, passage | {"start": 0}):
        assert (await client.post(path, json=entry)).status_code == 201
    whole, claim, first, second = (await read(client, note["note_id"]))["entries"]
    assert (whole["question"], first["question"], whole["freshness"]) == (QUESTION, "", "fresh")
    assert LEAVE in whole["sections"][0]["text"]
    assert quotes(claim) == quotes(whole)[:1]
    assert quotes(first) == quotes(second) == ["It is one month during probation."], "the text's own words"
    raw = (await client.get(f"/api/documents/{HANDBOOK}/raw-text")).json()
    text = "".join(segment["text"] for segment in raw["segments"])
    for entry in (whole, claim, first):
        for each in entry["claims"]:
            for citation in each["citations"]:
                assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert first["claims"][0]["citations"][0]["heading_path"] == ["Notice"]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({}, "session_id"),
        ({"document_id": HANDBOOK}, "quote"),
        ({"document_id": HANDBOOK, "quote": "Every employee gets 30 days."}, "quote"),
        ({"document_id": HANDBOOK, "quote": LEAVE, "section": 0}, "section"),
        ({"document_id": HANDBOOK, "quote": LEAVE, "session_id": str(uuid4())}, "session_id"),
        ({"session_id": str(uuid4()), "message_id": str(uuid4()), "start": 3}, "start"),
    ],
)
async def test_what_can_not_be_pinned_is_refused_by_its_field(
    client: httpx.AsyncClient, entry: dict[str, Any], says: str
) -> None:
    refused = await client.post("/api/notes", json={"entry": entry})
    assert (refused.status_code, says in refused.text) == (422, True)
    assert (await client.get("/api/notes")).json()["notes"] == []


async def test_quotes_are_looked_up_on_reading_and_what_is_deleted_is_withheld(client: httpx.AsyncClient) -> None:
    note = await made(client, entry={"document_id": HANDBOOK, "quote": LEAVE})
    await client.post(f"/api/notes/{note['note_id']}/entries", json={"document_id": TRAVEL, "quote": "Second class"})

    async def states() -> list[str]:
        return [each["freshness"] for each in (await read(client, note["note_id"]))["entries"]]

    assert await states() == ["fresh", "fresh"]
    await put(client, HANDBOOK, f"# News\n\nAll is well.\n\n# Leave\n\n{LEAVE}\n")
    assert await states() == ["moved", "fresh"]
    moved = (await read(client, note["note_id"]))["entries"][0]["claims"][0]["citations"][0]
    assert moved["now"]["start"] > moved["start"]
    await put(client, HANDBOOK, "# Leave\n\nEvery employee gets 24 days of annual leave a year.\n")
    assert await states() == ["changed", "fresh"]
    await client.delete(f"/api/documents/{TRAVEL}")
    entry = (await read(client, note["note_id"]))["entries"][1]
    assert (entry["freshness"], quotes(entry), entry["sources"][0]["title"]) == ("deleted", [""], "")
    assert "Second class" not in str(entry)
    exported = (await client.get(f"/api/notes/{note['note_id']}/export", params={"format": "md"})).text
    assert (LEAVE in exported, "Second class" in exported) == (True, False)


async def test_a_note_is_edited_put_in_order_and_deleted(client: httpx.AsyncClient) -> None:
    note = await made(client, title="Leave", text="What I *know*.")
    path = f"/api/notes/{note['note_id']}"
    ids = []
    for quote in ("Every employee", "Unused leave", "three months"):
        pinned = await client.post(f"{path}/entries", json={"document_id": HANDBOOK, "quote": quote})
        ids.append(pinned.json()["entry_id"])
    changed = (await client.patch(path, json={"title": "Days off", "text": "", "order": [ids[2], ids[1]]})).json()
    assert (changed["title"], changed["text"], changed["entries"]) == ("Days off", "", 3)
    assert [each["entry_id"] for each in (await read(client, note["note_id"]))["entries"]] == [ids[2], ids[1], ids[0]]
    assert (await client.patch(path, json={"order": [str(uuid4())]})).status_code == 422
    assert (await client.delete(f"{path}/entries/{ids[1]}")).status_code == 204
    assert (await client.delete(f"{path}/entries/{ids[1]}")).status_code == 404
    assert [each["entry_id"] for each in (await read(client, note["note_id"]))["entries"]] == [ids[2], ids[0]]
    other = await made(client, title="Another")
    page = (await client.get("/api/notes", params={"limit": 1})).json()
    assert [each["note_id"] for each in page["notes"]] == [other["note_id"]]
    rest = (await client.get("/api/notes", params={"limit": 1, "cursor": page["next_cursor"]})).json()
    assert [each["note_id"] for each in rest["notes"]] == [note["note_id"]]
    assert rest["next_cursor"] is None
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404


async def test_a_shared_note_is_read_by_others_with_their_own_rights(settings: Settings, citewell: Citewell) -> None:
    secret = NewDocument(document_id=str(uuid4()), title="Pay", text="The pay is 9 a day.\n", readers=["user:local"])
    await citewell.library.ingestor.ingest(Identity(), secret)
    theirs = settings.model_copy(update={"user": "ben"})
    async with (
        client_of(create_app(settings, citewell=citewell)) as owner,
        client_of(create_app(theirs, citewell=citewell)) as other,
    ):
        note = await made(owner, title="Leave", entry={"document_id": HANDBOOK, "quote": LEAVE})
        path = f"/api/notes/{note['note_id']}"
        pinned = {"document_id": secret.document_id, "quote": "The pay is 9 a day."}
        assert (await owner.post(f"{path}/entries", json=pinned)).status_code == 201
        assert (await other.get(path)).status_code == 404
        assert (await other.get("/api/notes")).json()["notes"] == []
        await owner.patch(path, json={"shared": True})
        shown = await read(other, note["note_id"])
        assert (shown["note"]["is_own"], [each["freshness"] for each in shown["entries"]]) == (
            False,
            ["fresh", "withheld"],
        )
        assert ("9 a day" in str(shown), "Pay" in str(shown)) == (False, False)
        [listed] = (await other.get("/api/notes")).json()["notes"]
        assert (listed["title"], listed["is_own"]) == ("Leave", False)
        for format in ("md", "html"):
            exported = await other.get(f"{path}/export", params={"format": format})
            assert ("25 days" in exported.text, "9 a day" in exported.text) == (True, False)
        for reply in (
            await other.patch(path, json={"title": "Mine"}),
            await other.delete(path),
            await other.post(f"{path}/entries", json=pinned),
            await other.delete(f"{path}/entries/{shown['entries'][0]['entry_id']}"),
        ):
            assert reply.status_code == 404
        await owner.patch(path, json={"shared": False})
        assert (await other.get(path)).status_code == 404


async def test_a_note_is_exported_with_its_text_and_the_proof_of_each_entry(client: httpx.AsyncClient) -> None:
    note = await made(client, title="Days off", text="What I **know**.", entry=await asked(client))
    pinned = {"document_id": TRAVEL, "quote": "Second class is booked for trains."}
    await client.post(f"/api/notes/{note['note_id']}/entries", json=pinned)
    path = f"/api/notes/{note['note_id']}/export"
    plain = (await client.get(path, params={"format": "md"})).text
    for told in ("# Days off", "What I **know**.", f"## {QUESTION}", "[^1]: ", "[^2]: ", "Travel policy", LEAVE):
        assert told in plain, told
    report = (await client.get(path, params={"format": "html"})).text
    assert "<strong>know</strong>" in report
    assert "Second class" in report
    word = await client.get(path, params={"format": "docx"})
    assert "Days off.docx" in word.headers["content-disposition"]
    assert "know" in ZipFile(BytesIO(word.content)).read("word/document.xml").decode()
