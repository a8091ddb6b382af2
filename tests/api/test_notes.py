"""Notes over HTTP: pinned with proof, looked up again on reading, shared, exported."""

import asyncio
import time
from collections.abc import AsyncIterator
from io import BytesIO
from threading import Event
from typing import Any
from uuid import uuid4
from zipfile import ZipFile

import httpx
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import Citewell, open_citewell
from graph.errors import NotFound
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, TRAVEL, new_session, with_model
from tests.api.serving import client_of
from tests.api.test_readers import KEY, token
from tests.scripted_openai import ScriptedOpenAI, answer
from tools.library.ingestion import NewDocument
from tools.library.marked_passages import find_span
from tools.notes import pinning
from tools.settings import AuthSettings, Settings

QUESTION = "How many days of annual leave does an employee get?"
LEAVE = "Every employee gets 25 days of annual leave a year."
LASTS = int(time.time()) + 86_400  # a whole run of the tests
ANN, BOB = (token(each, citewell_scopes="ask read write", exp=LASTS) for each in ("ann", "bob"))
ADMIN = token("root", citewell_scopes="ask read write admin", exp=LASTS)


def for_people(settings: Settings) -> Settings:
    return settings.model_copy(update={"auth": AuthSettings(mode="jwt", jwt_secret=SecretStr(KEY))})


@pytest.fixture
async def people(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    """A deployment whose people are told apart by their tokens."""
    async with client_of(create_app(for_people(settings), citewell=citewell)) as client:
        yield client


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
    for entry in (answer | {"section": 0, "start": 0}, passage, passage | {"start": 19_000_000}):
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


async def shared(client: httpx.AsyncClient, headers: dict[str, str], **fields: Any) -> str:
    """Return the path of a new note that is shared in the workspace."""
    made = await client.post("/api/notes", json=fields, headers=headers)
    assert made.status_code == 201, made.text
    path = f"/api/notes/{made.json()['note_id']}"
    assert (await client.patch(path, json={"shared": True}, headers=headers)).json()["shared"] is True
    return path


async def told(client: httpx.AsyncClient, path: str, headers: dict[str, str]) -> tuple[list[str], str]:
    """Return how fresh the entries of a note are, and all that its reader is told of it, exports and list too."""
    note = await client.get(path, headers=headers)
    assert note.status_code == 200, note.text
    files = [await client.get(f"{path}/export", params={"format": each}, headers=headers) for each in ("md", "html")]
    listed = await client.get("/api/notes", headers=headers)
    states = [each["freshness"] for each in note.json()["entries"]]
    return states, "\n".join(each.text for each in (note, *files, listed))


async def stored(citewell: Citewell, title: str, text: str) -> str:
    """Store a document that ann alone may read, and return its id."""
    new = NewDocument(title=title, text=text, readers=["user:ann"])
    return (await citewell.library.ingestor.ingest(Identity(user="ann"), new)).document_id


async def test_a_shared_note_is_read_by_others_with_their_own_rights(
    people: httpx.AsyncClient, citewell: Citewell
) -> None:
    secret = await stored(citewell, "Pay", "The pay is 9 a day.\n")
    entry = {"document_id": HANDBOOK, "quote": LEAVE}
    path = await shared(people, ANN, title="Leave", entry=entry)
    await people.patch(path, json={"shared": False}, headers=ANN)
    pinned = {"document_id": secret, "quote": "The pay is 9 a day."}
    assert (await people.post(f"{path}/entries", json=pinned, headers=ANN)).status_code == 201
    assert (await people.get(path, headers=BOB)).status_code == 404
    assert (await people.get("/api/notes", headers=BOB)).json()["notes"] == []
    await people.patch(path, json={"shared": True}, headers=ANN)
    states, text = await told(people, path, BOB)
    assert (states, "25 days" in text) == (["fresh", "withheld"], True)
    assert ("9 a day" in text, "Pay" in text) == (False, False)
    [listed] = (await people.get("/api/notes", headers=BOB)).json()["notes"]
    assert (listed["title"], listed["is_own"]) == ("Leave", False)
    entry_id = (await people.get(path, headers=BOB)).json()["entries"][0]["entry_id"]
    for reply in (
        await people.patch(path, json={"title": "Mine"}, headers=BOB),
        await people.patch(path, json={"shared": False}, headers=BOB),
        await people.delete(path, headers=BOB),
        await people.post(f"{path}/entries", json=entry, headers=BOB),
        await people.delete(f"{path}/entries/{entry_id}", headers=BOB),
    ):
        assert reply.status_code == 404
    await people.patch(path, json={"shared": False}, headers=ANN)
    assert (await people.get(path, headers=BOB)).status_code == 404


async def test_who_may_administer_ends_that_a_note_is_shared_and_deletes_it(people: httpx.AsyncClient) -> None:
    path = await shared(people, ANN, title="Rumours")
    assert (await people.patch(path, json={"title": "Facts"}, headers=ADMIN)).status_code == 404
    ended = await people.patch(path, json={"shared": False}, headers=ADMIN)
    assert (ended.status_code, ended.json()["shared"]) == (200, False)
    assert (await people.delete(path, headers=ADMIN)).status_code == 404, "it is its owner's alone again"
    assert (await people.get(path, headers=ANN)).json()["note"]["title"] == "Rumours"
    await people.patch(path, json={"shared": True}, headers=ANN)
    assert (await people.delete(path, headers=ADMIN)).status_code == 204
    assert (await people.get(path, headers=ANN)).status_code == 404


async def test_a_pinned_list_of_documents_is_withheld_from_who_may_not_read_one_of_them(
    people: httpx.AsyncClient, citewell: Citewell
) -> None:
    secret = await stored(citewell, "Zebra plans", "They are striped.\n")
    session_id = (await people.post("/api/sessions", json={}, headers=ANN)).json()["session_id"]
    question = {"question": "Which documents do you have?", "stream": False}
    run = (await people.post(f"/api/sessions/{session_id}/runs", json=question, headers=ANN)).json()
    pinned = {"session_id": session_id, "message_id": run["message_id"]}
    path = await shared(people, ANN, entry=pinned)
    states, text = await told(people, path, ANN)
    assert (states, "Zebra plans" in text) == (["fresh"], True)
    states, text = await told(people, path, BOB)
    assert (states, "Zebra" in text) == (["withheld"], False)
    assert (await people.delete(f"/api/documents/{secret}", headers=ANN)).is_success
    states, text = await told(people, path, ANN)
    assert (states, "Zebra" in text) == (["deleted"], False)


async def test_what_nothing_proves_is_withheld_with_the_documents_that_it_was_written_from(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    configured = with_model(for_people(settings), scripted_openai)
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
        secret = await stored(opened, "Zebra plans", "A zebra is bought in June.\n")
        said = "Does it gallop in June?"
        section = {"text": said, "source_ids": [f"{secret}:0"]}
        scripted_openai.script(answer(section), to="generate_answer")
        session_id = (await client.post("/api/sessions", json={}, headers=ANN)).json()["session_id"]
        asked = {"question": "When is the zebra bought?", "min_score": 0, "stream": False}
        run = (await client.post(f"/api/sessions/{session_id}/runs", json=asked, headers=ANN)).json()
        assert (said in run["message"]["answer"], run["message"]["citations"]) == (True, [])
        pinned = {"session_id": session_id, "message_id": run["message_id"]}
        path = await shared(client, ANN, title="Animals", entry=pinned)
        part = pinned | {"section": 0}
        assert (await client.post(f"{path}/entries", json=part, headers=ANN)).status_code == 201
        states, text = await told(client, path, ANN)
        assert (states, "gallop" in text) == (["fresh"] * 2, True)
        states, text = await told(client, path, BOB)
        assert (states, "gallop" in text) == (["withheld"] * 2, False)
        assert (await client.delete(f"/api/documents/{secret}", headers=ANN)).is_success
        states, text = await told(client, path, ANN)
        assert (states, "gallop" in text) == (["deleted"] * 2, False)


async def test_a_note_that_nobody_named_is_called_by_its_passage_for_who_may_read_that(
    people: httpx.AsyncClient, citewell: Citewell
) -> None:
    secret = await stored(citewell, "Zebra plans", "A zebra is bought in June.\n")
    path = await shared(people, ANN, entry={"document_id": secret, "quote": "A zebra is bought"})
    assert (await people.get(path, headers=ANN)).json()["note"]["title"] == "Zebra plans"
    assert [each["title"] for each in (await people.get("/api/notes", headers=ANN)).json()["notes"]] == ["Zebra plans"]
    _, text = await told(people, path, BOB)
    assert "ebra" not in text
    changed = await people.patch(path, json={"title": "Animals"}, headers=ANN)
    assert changed.json()["title"] == "Animals"
    assert (await people.get(path, headers=BOB)).json()["note"]["title"] == "Animals"


async def test_who_is_kept_to_a_space_sees_the_shared_notes_that_hold_something_for_them(citewell: Citewell) -> None:
    notes = citewell.library.notes
    ann, narrow = Identity(user="ann"), Identity(user="bob", spaces=("elsewhere",), assigns_owners=False)
    moved = NewDocument(text="A lamp is lit.", title="Lamps", space={"id": None, "slug": "elsewhere"})
    lamp = (await citewell.library.ingestor.ingest(ann, moved)).document_id
    ids = []
    for document_id, quote in ((HANDBOOK, LEAVE), (lamp, "A lamp is lit.")):
        passage = await pinning.passage_to_pin(citewell.library.reader, ann, document_id, quote)
        note = await notes.create(ann, quote)
        await notes.pin(ann, note.note_id, "", passage)
        await notes.change(ann, note.note_id, shared=True)
        ids.append(note.note_id)
    assert [each.title for each in (await notes.list(narrow))[0]] == ["A lamp is lit."]
    assert len((await notes.list(Identity(user="bob")))[0]) == 2
    with pytest.raises(NotFound):
        await notes.get(narrow, ids[0])
    assert (await notes.get(narrow, ids[1]))[0].title == "A lamp is lit."


async def test_a_passage_that_begins_within_a_word_is_pinned_to_whole_words(client: httpx.AsyncClient) -> None:
    quote = "ployee gets 25 days of ann"
    note = await made(client, entry={"document_id": HANDBOOK, "quote": quote})
    start = (await read(client, note["note_id"]))["entries"][0]["claims"][0]["citations"][0]["start"] + 2
    placed = {"document_id": HANDBOOK, "quote": quote, "start": start}
    await client.post(f"/api/notes/{note['note_id']}/entries", json=placed)
    for entry in (await read(client, note["note_id"]))["entries"]:
        assert (quotes(entry), entry["freshness"]) == (["employee gets 25 days of annual"], "fresh")


async def test_others_are_served_while_a_passage_is_looked_for(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking, served = Event(), Event()

    def find(passage: str, text: str) -> tuple[int, int] | None:
        looking.set()
        assert served.wait(30)
        return find_span(passage, text)

    monkeypatch.setattr(pinning, "find_span", find)

    async def other() -> None:
        await asyncio.to_thread(looking.wait, 30)
        assert (await client.get("/api/notes")).status_code == 200
        served.set()

    note, _ = await asyncio.gather(made(client, entry={"document_id": HANDBOOK, "quote": LEAVE}), other())
    assert note["entries"] == 1


async def test_of_a_disagreement_no_side_of_a_deleted_document_is_told(
    client: httpx.AsyncClient, citewell: Citewell
) -> None:
    sides = [
        {"document_id": each, "title": title, "quote": quote, "date": "", "dated_by": "document"}
        for each, title, quote in ((HANDBOOK, "Staff handbook", "Every"), (TRAVEL, "Travel policy", "Second class"))
    ]
    told = {"segment_ids": [f"{HANDBOOK}:0", f"{TRAVEL}:0"], "reason": "They differ.", "positions": sides}
    passage = await pinning.passage_to_pin(citewell.library.reader, Identity(), HANDBOOK, LEAVE)
    note = await made(client, title="Leave")
    await citewell.library.notes.pin(Identity(), note["note_id"], "Which?", passage | {"disagreements": [told]})

    async def exported() -> tuple[bool, bool]:
        text = (await client.get(f"/api/notes/{note['note_id']}/export", params={"format": "md"})).text
        return LEAVE in text, "Second class" in text

    assert await exported() == (True, True)
    await client.delete(f"/api/documents/{TRAVEL}")
    assert await exported() == (True, False)


async def test_a_refusal_stays_one_where_it_is_pinned(client: httpx.AsyncClient, citewell: Citewell) -> None:
    session_id = await new_session(client)
    question = {"question": "Who invented the telephone?", "stream": False}
    run = (await client.post(f"/api/sessions/{session_id}/runs", json=question)).json()
    assert run["outcome"] == "abstained"
    note = await made(client, entry={"session_id": session_id, "message_id": run["message_id"]})
    _, [entry] = await citewell.library.notes.get(Identity(), note["note_id"])
    assert (entry.answer.outcome, entry.answer.stop_reason) == ("abstained", run["stop_reason"])


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
