"""The library as a list: by name, type and folder, in any order, from anywhere, counted; many documents at a time."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from graph.entrypoint import Citewell
from tests.api.conftest import HANDBOOK, TRAVEL

FILES = {
    "plans/Moving.md": "# Moving\n\nDesks come on Monday.",
    "plans/old/budget.csv": "item,euros\ndesk,300\n",
    "Ferries.html": "<h1>Ferries</h1><p>The ferry leaves at one.</p>",
}


@pytest.fixture
async def filled(client: httpx.AsyncClient) -> dict[str, str]:
    """The ids of the files, by their paths."""
    ids = {}
    for path, text in FILES.items():
        made = await client.post("/api/documents", files={"file": (path, text.encode())})
        assert made.status_code == 201, made.text
        ids[path] = made.json()["document_id"]
    return ids


async def titles(client: httpx.AsyncClient, **asked: Any) -> list[str]:
    reply = await client.get("/api/documents", params=asked)
    assert reply.status_code == 200, reply.text
    return [document["title"] for document in reply.json()["documents"]]


async def test_documents_are_sorted_paged_from_anywhere_and_counted(
    client: httpx.AsyncClient, filled: dict[str, str]
) -> None:
    by_title = ["budget", "Ferries", "Moving", "Staff handbook", "Travel policy"]
    assert await titles(client, sort="title") == by_title
    assert await titles(client, sort="title", order="desc") == by_title[::-1]
    assert await titles(client, sort="title", offset=2, limit=2) == ["Moving", "Staff handbook"]
    assert await titles(client, sort="name") == ["Staff handbook", "Travel policy", "budget", "Ferries", "Moving"]
    assert await titles(client, sort="folder") == ["Ferries", "Staff handbook", "Travel policy", "Moving", "budget"]
    assert (await titles(client, sort="type"))[:2] == ["budget", "Ferries"]
    assert await titles(client, order="asc") == (await titles(client))[::-1]
    page = (await client.get("/api/documents", params={"limit": 2, "count": True})).json()
    assert (page["total"], len(page["documents"])) == (5, 2)
    following = (await client.get("/api/documents", params={"cursor": page["next_cursor"]})).json()
    assert (following["total"], len(following["documents"]), following["next_cursor"]) == (None, 3, None)
    refused = await client.get("/api/documents", params={"cursor": page["next_cursor"], "sort": "title"})
    assert (refused.status_code, refused.json()["suggestion"]) == (422, "Send an offset instead.")


async def test_documents_are_found_by_name_type_folder_and_id(
    client: httpx.AsyncClient, filled: dict[str, str]
) -> None:
    [moving] = (await client.get("/api/documents", params={"q": "MOVING plans"})).json()["documents"]
    assert (moving["file_name"], moving["folder"], moving["title"]) == ("Moving.md", "plans", "Moving")
    assert moving["tokens"] > 0
    assert await titles(client, q="handbook wiki.example") == ["Staff handbook"]
    assert await titles(client, q="100%") == []
    assert await titles(client, media_type=["text/csv", "text/html"], sort="title") == ["budget", "Ferries"]
    assert await titles(client, folder="plans") == ["Moving"]
    assert await titles(client, folder="", sort="title") == ["Ferries", "Staff handbook", "Travel policy"]
    assert await titles(client, name=["budget.csv", "Ferries.html", "none"], sort="title") == ["budget", "Ferries"]
    named = [filled["Ferries.html"], HANDBOOK, str(uuid4())]
    assert await titles(client, document_id=named, sort="title") == ["Ferries", "Staff handbook"]
    found = (await client.get("/api/documents", params={"q": "no such name", "count": True})).json()
    assert (found["documents"], found["total"]) == ([], 0)


async def test_the_library_is_counted_by_type_folder_and_source(
    client: httpx.AsyncClient, citewell: Citewell, filled: dict[str, str]
) -> None:
    whole = (await client.get("/api/library")).json()
    assert whole["documents"] == 5
    assert {each["media_type"]: each["documents"] for each in whole["types"]}["text/csv"] == 1
    assert whole["folders"] == [
        {"folder": "", "documents": 3},
        {"folder": "plans", "documents": 1},
        {"folder": "plans/old", "documents": 1},
    ]
    assert (whole["folder_count"], whole["sources"]) == (3, [])
    assert whole["reads_whole"] == {"documents": 100, "tokens": 6000}
    part = (await client.get("/api/library", params={"q": "plans", "media_type": "text/csv"})).json()
    assert (part["documents"], part["folders"]) == (1, [{"folder": "plans/old", "documents": 1}])
    assert (await client.get("/api/library", params={"model": "no-such"})).status_code == 400


async def test_documents_are_deleted_together_and_brought_back_for_an_hour(
    client: httpx.AsyncClient, citewell: Citewell, filled: dict[str, str]
) -> None:
    ids = [filled["Ferries.html"], TRAVEL]
    gone = await client.post("/api/deletions", json={"document_ids": [*ids, str(uuid4())]})
    assert gone.status_code == 200, gone.text
    assert set(gone.json()["deleted"]) == set(ids)
    assert (await client.get(f"/api/documents/{TRAVEL}")).status_code == 404
    again = await client.post("/api/deletions", json={"document_ids": ids})
    assert again.json() == {"deleted": []}
    back = await client.post("/api/deletions/undo", json={"document_ids": [*ids, HANDBOOK]})
    assert set(back.json()["restored"]) == set(ids), "what was not deleted is not brought back"
    found = (await client.get("/api/search", params={"q": "When does the ferry leave?"})).json()["results"]
    assert found[0]["document_id"] == filled["Ferries.html"]

    await client.delete(f"/api/documents/{TRAVEL}")
    async with citewell.library.database.connection() as connection:
        await connection.execute(
            "UPDATE documents SET deleted_at = deleted_at - %s WHERE document_id = %s", [timedelta(hours=2), TRAVEL]
        )
    late = await client.post("/api/deletions/undo", json={"document_ids": [TRAVEL]})
    assert late.json() == {"restored": []}
    assert (await client.post("/api/deletions", json={"document_ids": []})).status_code == 422


async def test_what_is_somebody_elses_is_neither_deleted_nor_brought_back(
    client: httpx.AsyncClient, citewell: Citewell
) -> None:
    body = {"text": "A diary.", "owner": "ann"}
    made = await client.post("/api/documents", json=body)
    document_id = made.json()["document_id"]
    for path, told in (("/api/deletions", "deleted"), ("/api/deletions/undo", "restored")):
        reply = await client.post(path, json={"document_ids": [document_id]})
        assert reply.json() == {told: []}


async def test_more_pages_than_can_be_read_are_searched_within(client: httpx.AsyncClient) -> None:
    made = await client.post("/api/sessions", json={})
    path = f"/api/sessions/{made.json()['session_id']}/runs"
    strangers = [str(uuid4()) for _ in range(100)]
    question = {"question": "When does unused leave lapse?", "only_selected_pages": True}
    answer = await client.post(path, json=question | {"page_ids": [*strangers, HANDBOOK]}, params={"stream": False})
    assert "lapses in March" in answer.text, answer.text
    assert '"load_selected_pages"' not in answer.text
    refused = await client.post(path, json=question | {"page_ids": [str(uuid4()) for _ in range(1001)]})
    assert refused.status_code == 422
