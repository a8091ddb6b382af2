"""Documents over HTTP: brought in both ways, replaced, listed, read back exactly, shown safely, deleted."""

import io
import json
import re
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from uuid import uuid4

import httpx
import httpx2
import pytest

from api.app import create_app
from graph.entrypoint import Citewell
from tests.api.conftest import HANDBOOK, TRAVEL
from tests.api.serving import client_of
from tests.reading_here import ReadHere
from tests.scripted_web import page, serve_web
from tools.library.web_pages import WebPages
from tools.settings import Settings
from tools.web.sites import WebReader

FIELDS = {
    "title": "Fire drill",
    "owner": "local",
    "space": {"id": "s9", "slug": "safety"},
    "slug": "fire-drill",
    "url": "https://wiki.example/fire",
    "source_type": "page",
    "metadata": {"author": {"name": "Ada"}, "tags": ["a", "b"]},
}


async def test_a_text_comes_back_with_all_that_was_said_of_it(client: httpx.AsyncClient) -> None:
    made = await client.post("/api/documents", json={"text": "Leave by the stairs.", **FIELDS})
    assert made.status_code == 201
    assert made.json()["status"] == "created"
    document = (await client.get(f"/api/documents/{made.json()['document_id']}")).json()
    assert {name: document[name] for name in FIELDS} == FIELDS


async def test_a_file_comes_with_the_same_fields_in_a_form(client: httpx.AsyncClient) -> None:
    form = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in FIELDS.items()}
    file = {"file": ("drill.md", "# Drill\n\nLeave by the stairs. 🚒\n".encode(), "text/markdown")}
    made = await client.post("/api/documents", files=file, data=form)
    assert made.status_code == 201, made.text
    document = (await client.get(f"/api/documents/{made.json()['document_id']}")).json()
    assert {name: document[name] for name in FIELDS} == FIELDS
    assert document["media_type"] == "text/markdown"


async def test_put_makes_replaces_and_leaves_alone(client: httpx.AsyncClient) -> None:
    document_id = str(uuid4())
    path = f"/api/documents/{document_id}"
    first = await client.put(path, json={"text": "Version one."})
    same = await client.put(path, json={"text": "Version one."})
    second = await client.put(path, json={"text": "Version two."})
    assert [r.status_code for r in (first, same, second)] == [201, 200, 200]
    assert [r.json()["status"] for r in (first, same, second)] == ["created", "unchanged", "updated"]
    assert {r.json()["document_id"] for r in (first, same, second)} == {document_id}
    raw = (await client.get(f"{path}/raw-text")).json()
    assert [segment["text"] for segment in raw["segments"]] == ["Version two."]


async def test_raw_text_is_the_canonical_text_by_code_points(client: httpx.AsyncClient) -> None:
    text = "Ünïcode 🙂 first. " * 200 + "\n\nSecond paragraph: 中文。\n"
    document_id = (await client.post("/api/documents", json={"text": text, "title": "T"})).json()["document_id"]
    raw = (await client.get(f"/api/documents/{document_id}/raw-text")).json()
    assert (raw["document_id"], raw["title"]) == (document_id, "T")
    whole = "".join(segment["text"] for segment in raw["segments"])
    assert len(raw["segments"]) > 1
    for segment in raw["segments"]:
        assert whole[segment["start"] : segment["end"]] == segment["text"]
    assert [s["segment_index"] for s in raw["segments"]] == list(range(len(raw["segments"])))
    assert "Second paragraph: 中文。" in whole


async def test_documents_are_listed_in_pages_and_by_space(client: httpx.AsyncClient) -> None:
    first = (await client.get("/api/documents", params={"limit": 1})).json()
    second = (await client.get("/api/documents", params={"limit": 1, "cursor": first["next_cursor"]})).json()
    ids = [document["document_id"] for page in (first, second) for document in page["documents"]]
    assert sorted(ids) == sorted([HANDBOOK, TRAVEL])
    assert second["next_cursor"] is None
    in_space = (await client.get("/api/documents", params={"space": "people"})).json()["documents"]
    assert [document["document_id"] for document in in_space] == [HANDBOOK]


async def test_a_deleted_document_is_out_of_every_sight(client: httpx.AsyncClient) -> None:
    assert (await client.delete(f"/api/documents/{HANDBOOK}")).status_code == 204
    assert (await client.delete(f"/api/documents/{HANDBOOK}")).status_code == 404
    for path in (f"/api/documents/{HANDBOOK}", f"/api/documents/{HANDBOOK}/raw-text", f"/documents/{HANDBOOK}"):
        assert (await client.get(path)).status_code == 404
    found = (await client.get("/api/search", params={"q": "annual leave", "min_score": 0})).json()
    assert HANDBOOK not in {result["document_id"] for result in found["results"]}


async def test_search_gives_sources_best_first(shared_client: httpx.AsyncClient) -> None:
    found = (await shared_client.get("/api/search", params={"q": "annual leave days", "min_score": 0})).json()
    best = found["results"][0]
    assert best["document_id"] == HANDBOOK
    assert "25 days" in best["excerpt"]
    assert (best["slug"], best["metadata"]) == ("staff-handbook", {"team": "people"})
    scores = [result["score"] for result in found["results"]]
    assert scores == sorted(scores, reverse=True)
    only = (
        await shared_client.get("/api/search", params={"q": "annual leave days", "space": "nowhere", "min_score": 0})
    ).json()
    assert only["results"] == []


def nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


@pytest.mark.parametrize("name", ["metadata", "space", "readers"])
async def test_a_field_of_json_that_nests_without_end_is_refused(shared_client: httpx.AsyncClient, name: str) -> None:
    file = {"file": ("drill.md", b"Leave by the stairs.")}
    made = await shared_client.post("/api/documents", files=file, data={name: nested(5_000)})
    assert (made.status_code, made.json()["code"]) == (422, "invalid_request")
    assert f"{name}: is nested too deeply" in made.json()["detail"]


@pytest.mark.parametrize("levels", [21, 300])
@pytest.mark.parametrize("path", ["/api/documents", "/api/jobs"])
async def test_metadata_that_nests_too_deeply_is_refused(
    shared_client: httpx.AsyncClient, path: str, levels: int
) -> None:
    form = {"metadata": nested(levels)}
    files = {"file": ("drill.md", b"Leave by the stairs.")}
    made = await shared_client.post(path, files=files, data=form)
    assert (made.status_code, made.json()["code"]) == (422, "invalid_request")
    assert "metadata" in made.json()["detail"]


async def test_front_matter_that_nests_too_deeply_is_refused(shared_client: httpx.AsyncClient) -> None:
    text = f"---\nmore: {nested(20)}\n---\n\nLeave by the stairs.\n"
    made = await shared_client.post("/api/documents", json={"text": text, "name": "drill.md"})
    assert (made.status_code, made.json()["code"]) == (422, "invalid_request")
    assert "20 levels" in made.json()["detail"]


async def test_metadata_of_the_most_levels_comes_back(client: httpx.AsyncClient) -> None:
    metadata = json.loads(nested(20))
    made = await client.post("/api/documents", json={"text": "Leave by the stairs.", "metadata": metadata})
    assert made.status_code == 201
    found = (await client.get("/api/search", params={"q": "leave by the stairs", "min_score": 0})).json()
    assert found["results"][0]["metadata"] == metadata


async def test_deeper_metadata_that_is_stored_already_is_still_read(
    client: httpx.AsyncClient, citewell: Citewell
) -> None:
    async with citewell.library.database.connection() as connection:
        stored = "UPDATE documents SET metadata = %s::jsonb WHERE document_id = %s"
        await connection.execute(stored, [nested(100), HANDBOOK])
    found = (await client.get("/api/search", params={"q": "annual leave days", "min_score": 0})).json()
    document = (await client.get(f"/api/documents/{HANDBOOK}")).json()
    assert found["results"][0]["metadata"] == document["metadata"] == json.loads(nested(100))


class Outline(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self._within = dict(attrs)["id"] or ""

    def handle_data(self, data: str) -> None:
        self.text[self._within] = self.text.get(self._within, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._within = "" if tag == "section" else self._within


async def test_the_page_shows_each_segment_at_its_anchor(shared_client: httpx.AsyncClient) -> None:
    raw = (await shared_client.get(f"/api/documents/{HANDBOOK}/raw-text")).json()
    response = await shared_client.get(f"/documents/{HANDBOOK}")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    outline = Outline()
    outline.feed(response.text)
    for segment in raw["segments"]:
        assert outline.text[f"segment-{segment['segment_index']}"] == segment["text"]
    assert ("a", {"href": "https://wiki.example/handbook", "rel": "noreferrer nofollow"}) in outline.tags


async def test_the_page_runs_nothing_that_a_document_says(client: httpx.AsyncClient) -> None:
    evil = "<script>alert(1)</script> <img src=x onerror=alert(1)> </section></style> &lt;b&gt;"
    fields = {"text": evil, "title": evil, "url": '/wiki/"><script>alert(2)</script>'}
    made = await client.post("/api/documents", json=fields)
    response = await client.get(f"/documents/{made.json()['document_id']}")
    outline = Outline()
    outline.feed(response.text)
    assert {tag for tag, _ in outline.tags} <= {
        *("html", "head", "meta", "title", "link", "style", "script", "body", "main", "h1", "h2", "p", "a", "section"),
    }
    [script] = [attributes for tag, attributes in outline.tags if tag == "script"]
    assert re.fullmatch(r"\.\./page/[0-9a-f]{16}/to_viewer\.js", script["src"] or "")
    assert [link for tag, link in outline.tags if tag == "link" and not (link["href"] or "").startswith("data:")] == []
    assert outline.text["segment-0"] == evil
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_a_document_without_text_needs_an_address(shared_client: httpx.AsyncClient) -> None:
    for body in ({}, {"title": "T"}, {"url": "/wiki/page"}, {"text": None}):
        response = await shared_client.post("/api/documents", json=body)
        assert response.status_code == 422, body
    form = await shared_client.post("/api/documents", files={"url": (None, "/wiki/page")})
    assert form.status_code == 422


async def test_an_address_without_a_scheme_is_named(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.post("/api/documents", json={"url": "/docs.example.org/lamps.html"})
    assert response.json()["detail"].startswith("url: ")


async def test_no_private_address_is_fetched(shared_client: httpx.AsyncClient) -> None:
    for url in ("http://127.0.0.1/", "http://[::1]/x", "http://169.254.169.254/latest/meta-data", "http://2130706433/"):
        response = await shared_client.post("/api/documents", json={"url": url})
        assert (response.status_code, response.json()["code"]) == (422, "unreadable_document"), url


async def test_a_page_is_fetched_once_under_its_own_id(
    citewell: Citewell, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.web.sites.SECONDS_BETWEEN", 0.0)
    async with serve_web() as web:
        reader = WebReader(
            settings,
            ReadHere(),
            guard=web.guard,
            transport=httpx2.AsyncHTTPTransport(verify=False),
        )
        library = citewell.library
        pages = WebPages(reader, library.ingestor, library.documents, library.originals)
        opened = replace(citewell, library=replace(library, pages=pages))
        url = web.serve("docs.test/lamp", page("The lamp turns.", title="Lamps"))
        async with client_of(create_app(settings, citewell=opened)) as client:
            form = {"url": (None, url), "space": (None, '{"id": "s", "slug": null}')}
            made = await client.post("/api/documents", json={"url": f"{url}#a", "space": {"id": "s", "slug": None}})
            again = await client.post("/api/documents", files=form)
            put = await client.put(f"/api/documents/{HANDBOOK}", json={"url": url})
            assert [each.status_code for each in (made, again, put)] == [201, 200, 200]
            assert [each.json()["status"] for each in (made, again, put)] == ["created", "unchanged", "updated"]
            assert made.json()["document_id"] == again.json()["document_id"]
            original = await client.get(f"/api/documents/{made.json()['document_id']}/original")
            assert original.headers["content-type"] == "text/html"
            assert b"The lamp turns." in original.content
        await reader.close()


def archive(*files: tuple[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as written:
        for name, data in files:
            written.writestr(name, data)
    return packed.getvalue()


async def test_an_archive_is_a_document_for_each_file_in_it(client: httpx.AsyncClient) -> None:
    files = {
        "file": ("drills.zip", archive(("fire.md", b"# Fire\n\nLeave."), ("a.png", b"\x89PNG\0")), "application/zip")
    }
    made = await client.post("/api/documents", files=files, data={"space": '{"id": "s9", "slug": null}'})
    assert made.status_code == 201, made.text
    reply = made.json()
    assert (reply["name"], reply["status"]) == ("drills.zip", "unpacked")
    assert [(each["name"], each["title"], each["status"]) for each in reply["documents"]] == [
        ("drills.zip/fire.md", "Fire", "created")
    ]
    assert [(each["name"], "picture" in each["reason"]) for each in reply["refused"]] == [("drills.zip/a.png", True)]
    document = (await client.get(f"/api/documents/{reply['documents'][0]['document_id']}")).json()
    assert document["space"] == {"id": "s9", "slug": None}
    path = f"/api/documents/{uuid4()}"
    first, same = [await client.put(path, files=files) for _ in range(2)]
    assert [each.json()["documents"][0]["status"] for each in (first, same)] == ["created", "unchanged"]
    titled = await client.post("/api/documents", files=files, data={"title": "Drills"})
    assert titled.status_code == 422
    assert "title" in titled.json()["detail"]


async def test_a_file_that_is_sent_twice_is_one_document(client: httpx.AsyncClient) -> None:
    lamp = b"The lamp of the pier turns twice a minute."
    file = {"file": ("lamp.txt", lamp)}
    first, again = [await client.post("/api/documents", files=file) for _ in range(2)]
    renamed = await client.post("/api/documents", files={"file": ("pier.txt", lamp)})
    assert [each.status_code for each in (first, again, renamed)] == [201, 200, 200]
    assert [each.json()["status"] for each in (first, again, renamed)] == ["created", "unchanged", "updated"]
    assert len({each.json()["document_id"] for each in (first, again, renamed)}) == 1
    packed = {"file": ("piers.zip", archive(("a/lamp.txt", lamp), ("b/lamp.txt", lamp)))}
    one_id = {each["document_id"] for each in (await client.post("/api/documents", files=packed)).json()["documents"]}
    assert one_id == {first.json()["document_id"]}
    others = [{"url": "https://pier.example/lamp"}, {"slug": "lamp"}, {"space": '{"id": "s1", "slug": null}'}]
    placed = [await client.post("/api/documents", files=file, data=data) for data in others]
    texts = [await client.post("/api/documents", json={"text": lamp.decode()}) for _ in range(2)]
    assert len({each.json()["document_id"] for each in (first, *placed, *texts)}) == 6


async def test_a_guessed_encoding_is_told(client: httpx.AsyncClient) -> None:
    file = {"file": ("notes.txt", "Die Straße ist für Fußgänger gesperrt.".encode("cp1252"), "text/plain")}
    made = (await client.post("/api/documents", files=file)).json()
    [warning] = made["warnings"]
    assert "windows-1252" in warning
    document = (await client.get(f"/api/documents/{made['document_id']}")).json()
    assert document["metadata"] == {"file_path": "notes.txt", "encoding": "windows-1252"}
