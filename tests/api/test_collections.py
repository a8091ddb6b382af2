"""Collections: documents that people name together, ask alone and share; and titles that they give."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import Citewell
from graph.errors import InvalidRequest
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, TRAVEL, new_session
from tests.api.serving import client_of
from tests.api.test_errors import assert_problem
from tests.api.test_readers import KEY, token
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, Settings

WORKS, READS = {"citewell_scopes": "ask read write"}, {"citewell_scopes": "ask read"}
WAIT = {"prefer": "wait=60"}  # no job, however busy the machine
ASKED = {"question": "How long is the notice period?", "only_selected_pages": True, "stream": False}


@pytest.fixture
async def people(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    """A deployment whose people are told apart by their tokens."""
    auth = AuthSettings(mode="jwt", jwt_secret=SecretStr(KEY))
    async with client_of(create_app(settings.model_copy(update={"auth": auth}), citewell=citewell)) as client:
        yield client


async def made(client: httpx.AsyncClient, name: str, *ids: str, **more: Any) -> dict[str, Any]:
    headers = more.pop("headers", None)
    sent = {"name": name, "document_ids": ids, **more}
    reply = await client.post("/api/collections", json=sent, headers=headers)
    assert reply.status_code == 201, reply.text
    found: dict[str, Any] = reply.json()
    return found


async def seen(client: httpx.AsyncClient, headers: dict[str, str] | None = None) -> list[tuple[str, int, bool]]:
    listed = (await client.get("/api/collections", headers=headers)).json()["collections"]
    return [(each["name"], each["documents"], each["yours"]) for each in listed]


async def test_a_collection_is_filled_renamed_asked_alone_and_deleted(client: httpx.AsyncClient) -> None:
    rules = await made(client, "Rules", HANDBOOK, str(uuid4()))
    assert (rules["documents"], rules["shared"], rules["yours"]) == (1, False, True)
    path = f"/api/collections/{rules['collection_id']}"
    changed = await client.patch(path, json={"name": "House rules", "add": [TRAVEL, HANDBOOK]})
    assert (changed.json()["name"], changed.json()["documents"]) == ("House rules", 2)
    assert (await client.patch(path, json={"remove": [TRAVEL]})).json()["documents"] == 1
    listed = (await client.get("/api/documents", params={"collection": rules["collection_id"]})).json()["documents"]
    assert [each["document_id"] for each in listed] == [HANDBOOK]

    session_id = await new_session(client)
    asked = ASKED | {"collection_ids": [rules["collection_id"]]}
    run = (await client.post(f"/api/sessions/{session_id}/runs", json=asked)).json()
    assert "one month" in run["message"]["answer"]
    other = ASKED | {"question": "Which class is booked for trains?", "collection_ids": [rules["collection_id"]]}
    run = (await client.post(f"/api/sessions/{session_id}/runs", json=other)).json()
    assert run["outcome"] == "abstained"
    session = (await client.get(f"/api/sessions/{session_id}")).json()
    assert session["session"]["page_ids"] == []
    assert session["session"]["collection_ids"] == [rules["collection_id"]]
    assert session["messages"][0]["page_ids"] == [HANDBOOK]
    assert session["messages"][0]["collected_ids"] == [HANDBOOK]
    assert [each["collection_ids"] for each in session["messages"][:2]] == [[rules["collection_id"]], []]
    # What joins it answers from then on, and what was asked is asked again of the same.
    await client.patch(path, json={"add": [TRAVEL], "remove": [HANDBOOK]})
    run = (await client.post(f"/api/sessions/{session_id}/runs", json=other)).json()
    assert "second class" in run["message"]["answer"].lower()
    again = {"regenerate": session["messages"][1]["message_id"], "only_selected_pages": True, "stream": False}
    run = (await client.post(f"/api/sessions/{session_id}/runs", json=again)).json()
    assert "one month" in run["message"]["answer"]

    assert (await client.delete(path)).status_code == 204
    assert await seen(client) == []
    assert (await client.get(f"/api/documents/{HANDBOOK}")).status_code == 200
    refused = assert_problem(await client.post(f"/api/sessions/{session_id}/runs", json=asked), 422, "invalid_request")
    assert refused["detail"].startswith("collection_ids: there is no collection")
    empty = ASKED | {"collection_ids": [(await made(client, "Nothing"))["collection_id"]]}
    refused = assert_problem(await client.post(f"/api/sessions/{session_id}/runs", json=empty), 422, "invalid_request")
    assert "nothing is in it" in refused["detail"]


async def test_a_message_tells_what_was_ticked_from_what_its_collections_held(client: httpx.AsyncClient) -> None:
    both = (await made(client, "Both", HANDBOOK, TRAVEL))["collection_id"]
    session_id = await new_session(client)
    asked = ASKED | {"collection_ids": [both], "page_ids": [TRAVEL]}
    assert (await client.post(f"/api/sessions/{session_id}/runs", json=asked)).status_code == 200
    question, answer = (await client.get(f"/api/sessions/{session_id}")).json()["messages"]
    assert (question["page_ids"], question["collected_ids"]) == ([TRAVEL, HANDBOOK], [HANDBOOK])
    assert answer["collected_ids"] == []


async def test_what_is_selected_in_a_session_may_be_a_collection(client: httpx.AsyncClient) -> None:
    one = (await made(client, "One"))["collection_id"]
    session_id = await new_session(client, collection_ids=[one])
    path = f"/api/sessions/{session_id}"
    assert (await client.get(path)).json()["session"]["collection_ids"] == [one]
    assert (await client.patch(path, json={"pinned": True})).json()["collection_ids"] == [one]
    assert (await client.patch(path, json={"collection_ids": []})).json()["collection_ids"] == []


async def test_what_is_shared_is_seen_by_all_filled_by_writers_and_renamed_by_its_maker(
    people: httpx.AsyncClient, citewell: Citewell
) -> None:
    ann, bob = token("ann", **WORKS), token("bob", **WORKS)
    mine = await citewell.library.ingestor.ingest(
        Identity(user="ann"), NewDocument(text="A zebra.", title="Diary", owner="ann")
    )
    kept = await made(people, "Kept", HANDBOOK, headers=ann)
    path = f"/api/collections/{kept['collection_id']}"
    assert await seen(people, bob) == []
    for sent in ({"name": "Bob's"}, {"add": [TRAVEL]}):
        assert_problem(await people.patch(path, json=sent, headers=bob), 404, "not_found")
    stolen = ASKED | {"collection_ids": [kept["collection_id"]]}
    session_id = (await people.post("/api/sessions", json={}, headers=bob)).json()["session_id"]
    refused = await people.post(f"/api/sessions/{session_id}/runs", json=stolen, headers=bob)
    assert_problem(refused, 422, "invalid_request")

    await people.patch(path, json={"shared": True, "add": [mine.document_id]}, headers=ann)
    assert await seen(people, ann) == [("Kept", 2, True)]
    assert await seen(people, bob) == [("Kept", 1, False)], "of a document that is another's nothing is told"
    assert await seen(people, token("eve", **READS)) == [("Kept", 1, False)]
    assert (await people.patch(path, json={"add": [TRAVEL]}, headers=bob)).json()["documents"] == 2
    reads = token("eve", **READS)
    assert_problem(await people.patch(path, json={"add": [TRAVEL]}, headers=reads), 403, "not_permitted")
    for renamed in ({"name": "Bob's"}, {"shared": False}):
        assert_problem(await people.patch(path, json=renamed, headers=bob), 403, "not_permitted")
    assert_problem(await people.delete(path, headers=bob), 403, "not_permitted")
    admin = token("root", citewell_scopes="ask read write admin")
    assert (await people.patch(path, json={"name": "House"}, headers=admin)).json()["name"] == "House"
    asked = (await people.post(f"/api/sessions/{session_id}/runs", json=stolen, headers=bob)).json()
    assert "zebra" not in str(asked)
    assert "one month" in asked["message"]["answer"]
    assert (await people.patch(path, json={"shared": False}, headers=ann)).status_code == 200
    assert await seen(people, bob) == []
    listed = await people.get("/api/documents", params={"collection": kept["collection_id"]}, headers=bob)
    assert listed.json()["documents"] == []


async def test_who_keeps_a_collection_from_themselves_is_told_what_became_of_it(
    people: httpx.AsyncClient, citewell: Citewell
) -> None:
    ann, admin = token("ann", **WORKS), token("root", citewell_scopes="ask read write admin")
    kept = await made(people, "Kept", HANDBOOK, headers=ann, shared=True)
    path = f"/api/collections/{kept['collection_id']}"
    changed = await people.patch(path, json={"shared": False}, headers=admin)
    assert (changed.status_code, changed.json()["shared"], changed.json()["yours"]) == (200, False, False)
    assert await seen(people, admin) == []
    assert await seen(people, ann) == [("Kept", 1, True)]

    lamps = NewDocument(text="A lamp.", title="Lamps", space={"id": None, "slug": "elsewhere"})
    lamp = (await citewell.library.ingestor.ingest(Identity(), lamps)).document_id
    collections = citewell.library.collections
    shared = await collections.create(Identity(user="ann"), "Lamps", shared=True, document_ids=[HANDBOOK, lamp])
    narrow = Identity(user="bob", spaces=("elsewhere",), assigns_owners=False)
    assert (await collections.change(narrow, shared.collection_id, remove=[lamp])).documents == 0
    assert await collections.list(narrow) == []
    assert await collections.resolve(Identity(user="ann"), [shared.collection_id], beside=[]) == [HANDBOOK]


async def test_what_others_do_not_see_they_do_not_take_out_and_what_is_deleted_takes_no_room(
    citewell: Citewell, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = Identity(user="ann"), Identity(user="bob", assigns_owners=False)
    collections, ingestor = citewell.library.collections, citewell.library.ingestor
    diary, lamp, horn = [
        (await ingestor.ingest(ann, NewDocument(text=text, owner="ann"))).document_id
        for text in ("A zebra.", "A lamp.", "A horn.")
    ]
    kept = await collections.create(ann, "Kept", shared=True, document_ids=[diary, lamp])
    await collections.change(bob, kept.collection_id, remove=[diary])
    assert (await collections.change(ann, kept.collection_id, name="House")).documents == 2
    monkeypatch.setattr("tools.library.document_collections.MOST_DOCUMENTS", 2)
    with pytest.raises(InvalidRequest, match="at most 2"):
        await collections.change(ann, kept.collection_id, add=[horn])
    await citewell.library.documents.delete(ann, diary)
    assert (await collections.change(ann, kept.collection_id, add=[horn])).documents == 2
    assert (await collections.change(ann, kept.collection_id, remove=[lamp])).documents == 1


async def test_who_is_kept_to_a_space_sees_what_holds_something_for_them(citewell: Citewell) -> None:
    library = citewell.library
    await library.collections.create(Identity(), "House", shared=True, document_ids=[HANDBOOK])
    narrow = Identity(user="bob", spaces=("elsewhere",), assigns_owners=False)
    assert await library.collections.list(narrow) == []
    moved = NewDocument(text="A lamp.", title="Lamps", space={"id": None, "slug": "elsewhere"})
    lamp = (await library.ingestor.ingest(Identity(), moved)).document_id
    await library.collections.create(Identity(), "Lamps", shared=True, document_ids=[HANDBOOK, lamp])
    [found] = await library.collections.list(narrow)
    assert (found.name, found.documents, found.yours) == ("Lamps", 1, False)
    assert await library.collections.resolve(narrow, [found.collection_id], beside=[]) == [lamp]


async def test_a_title_that_is_given_is_cited_found_and_kept_when_the_file_is_read_anew(
    client: httpx.AsyncClient, citewell: Citewell
) -> None:
    file = {"file": ("lamps.md", b"# Introduction\n\nThe lamp is lit at dusk.")}
    document_id = (await client.post("/api/documents", files=file, headers=WAIT)).json()["document_id"]
    path = f"/api/documents/{document_id}"
    session_id = await new_session(client)
    asked = {"question": "When is the lamp lit?", "stream": False}
    assert "dusk" in (await client.post(f"/api/sessions/{session_id}/runs", json=asked)).json()["message"]["answer"]
    changed = await client.patch(path, json={"title": "  Lighthouse\tmanual "})
    assert (changed.status_code, changed.json()["title"]) == (200, "Lighthouse manual")
    found = (await client.get("/api/search", params={"q": "lighthouse", "min_score": 0})).json()["results"]
    assert document_id in [each["document_id"] for each in found]
    before = (await client.get(f"/api/sessions/{session_id}")).json()["messages"][1]
    assert {each["freshness"] for each in before["citations"]} == {"fresh"}, "its words are where they were"
    run = (await client.post(f"/api/sessions/{session_id}/runs", json=asked)).json()
    assert {each["title"] for each in run["message"]["sources"]} == {"Lighthouse manual"}
    again = (await client.post("/api/documents", files=file, headers=WAIT)).json()
    assert (again["title"], again["status"]) == ("Lighthouse manual", "unchanged")
    assert len((await client.get(f"{path}/versions")).json()["versions"]) == 1, "a title is no text"
    await client.put(path, files={"file": ("lamps.md", b"# Introduction\n\nThe lamp is lit at noon.")}, headers=WAIT)
    [report] = [
        each
        async for each in citewell.library.ingestor.ingest_many(
            Identity(), [NewDocument(data=file["file"][1], name="lamps.md", document_id=document_id)]
        )
    ]
    assert report.status == "updated"
    assert (await client.get(path)).json()["title"] == "Lighthouse manual"
    versions = (await client.get(f"{path}/versions")).json()["versions"]
    assert [each["title"] for each in versions] == ["Lighthouse manual"] * 3
    named = await client.put(path, json={"text": "The lamp is out.", "title": "Logbook"})
    assert named.json()["title"] == "Logbook", "a sender who names it does so"
    for wrong in ("", " ", "a\u0000b", "x" * 501):
        assert_problem(await client.patch(path, json={"title": wrong}), 422, "invalid_request")


async def test_who_may_not_change_a_document_does_not_rename_it(people: httpx.AsyncClient, citewell: Citewell) -> None:
    ann = Identity(user="ann")
    diary = NewDocument(text="A zebra.", title="Diary", owner="ann")
    readable = replace(diary, text="A lamp.", readers=["everyone"])
    hidden, shown = [(await citewell.library.ingestor.ingest(ann, each)).document_id for each in (diary, readable)]
    for document_id in (hidden, shown):
        path, bob = f"/api/documents/{document_id}", token("bob", **WORKS)
        assert_problem(await people.patch(path, json={"title": "Bob's"}, headers=bob), 404, "not_found")
        assert (await citewell.library.documents.get(ann, document_id)).title == "Diary"
    path, admin = f"/api/documents/{HANDBOOK}", token("root", citewell_scopes="read admin")
    refused = assert_problem(await people.patch(path, json={"title": "Root's"}, headers=admin), 403, "not_permitted")
    assert "write" in refused["detail"]
    assert (await people.patch(path, json={"readers": ["everyone"]}, headers=admin)).status_code == 200
