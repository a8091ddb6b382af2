"""A link of an answer opens its document without credentials, as long as who it was made for may read that."""

import logging
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from api.app import create_app
from api.document_page import NOT_OPEN
from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK
from tests.api.serving import client_of
from tests.api.test_readers import KEY, token
from tools.auth.api_keys import ApiKeys, KeyTerms, key_id
from tools.auth.document_links import LINKS_PATH, DocumentLinks, LinkSigner
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, LinkSettings, Settings

SAFE = "# Safe\n\nThe safe of the office opens with the code 4711 & 5 < 6.\n\nThe spare key is with Ann.\n"
QUESTION = "What does the safe of the office open with?"
QUOTE = "The safe of the office opens with the code 4711 &amp; 5 &lt; 6."
KEYED = AuthSettings(mode="keys")
JWT = AuthSettings(mode="jwt", jwt_secret=SecretStr(KEY))
URL = re.compile(r"https?://[^\s\"\\]+")
DAY = 86_400


@pytest.fixture(params=[KEYED, JWT], ids=["keys", "jwt"])
def auth(request: pytest.FixtureRequest) -> AuthSettings:
    mode: AuthSettings = request.param
    return mode


@pytest.fixture
async def anyone(settings: Settings, citewell: Citewell, auth: AuthSettings) -> AsyncIterator[httpx.AsyncClient]:
    """A client without credentials of a deployment that asks for them."""
    keyed = settings.model_copy(update={"auth": auth})
    object.__setattr__(citewell.library, "links", links_by(citewell, keyed))
    async with client_of(create_app(keyed, citewell=citewell)) as client:
        yield client


def links_by(citewell: Citewell, settings: Settings) -> DocumentLinks:
    return DocumentLinks(citewell.library.database, citewell.library.workspaces, settings)


async def credentials(citewell: Citewell, auth: AuthSettings, user: str = "ann", *groups: str) -> dict[str, str]:
    if auth.mode == "jwt":
        return token(user, *groups)
    key = await ApiKeys(citewell.library.database, citewell.library.workspaces).create("default", user)
    return {"authorization": f"Bearer {key}"}


async def asked(client: httpx.AsyncClient, headers: dict[str, str], **body: Any) -> str:
    """Ask of the safe, and return the URL of the answer's citation."""
    sent = {"messages": [{"role": "user", "content": QUESTION}], "citewell": {"min_score": 0}, **body}
    reply = await client.post("/v1/chat/completions", json=sent, headers=headers)
    [annotation, *_] = reply.json()["choices"][0]["message"]["annotations"]
    return str(annotation["url_citation"]["url"])


async def stored(citewell: Citewell, **fields: Any) -> str:
    document = NewDocument(**{"text": SAFE, "title": "Safe", "media_type": "text/markdown", **fields})
    return (await citewell.library.ingestor.ingest(Identity(user="ann", groups=("legal",)), document)).document_id


def assert_shut(response: httpx.Response) -> None:
    assert (response.status_code, response.text) == (404, NOT_OPEN)
    assert response.headers["content-type"] == "text/html; charset=utf-8"


async def test_a_link_opens_without_a_header_and_marks_the_quote(
    citewell: Citewell, anyone: httpx.AsyncClient, auth: AuthSettings
) -> None:
    document_id = await stored(citewell, owner="ann")
    headers = await credentials(citewell, auth)
    url = await asked(anyone, headers)
    assert re.fullmatch(rf"{anyone.base_url}/links/[\w.-]{{90,110}}#segment-\d+", url)
    opened = await anyone.get(url)
    assert opened.status_code == 200
    [marked] = re.findall("<mark>(.*?)</mark>", opened.text, re.DOTALL)
    assert QUOTE in marked
    assert (opened.headers["referrer-policy"], opened.headers["cache-control"]) == ("no-referrer", "private, no-store")
    assert "noindex" in opened.headers["x-robots-tag"]
    assert "default-src 'none'" in opened.headers["content-security-policy"]
    assert await asked(anyone, headers) == url, "links of one day are the same"
    streamed = await anyone.post(
        "/v1/chat/completions",
        json={"messages": [{"role": "user", "content": QUESTION}], "stream": True, "citewell": {"links": True}},
        headers=headers,
    )
    assert {each.rstrip(")") for each in URL.findall(streamed.text)} == {url}
    responded = await anyone.post("/v1/responses", json={"input": QUESTION}, headers=headers)
    assert set(URL.findall(responded.text)) == {url}
    events = await anyone.post("/v1/responses", json={"input": QUESTION, "stream": True}, headers=headers)
    assert set(URL.findall(events.text)) == {url}
    again = await anyone.get(f"/v1/responses/{responded.json()['id']}", headers=headers)
    assert set(URL.findall(again.text)) == {url}
    chat = {"query": QUESTION, "threshold": 0}
    told = (await anyone.post("/api/docs-chat/messages", json=chat, headers=headers)).json()
    [path] = {each["file_path"] for each in told["sources"] if each["document_id"] == document_id}
    assert (await anyone.get(path)).status_code == 200
    read = await anyone.get(f"/api/docs-chat/sessions/{told['session_id']}", headers=headers)
    assert path in read.text
    sent = await anyone.post("/api/docs-chat/messages", json=chat, headers=headers | {"accept": "text/event-stream"})
    assert path in sent.text
    assert (await anyone.get(f"/documents/{document_id}")).status_code == 401


async def test_a_public_key_is_given_no_links_and_those_of_an_earlier_release_open_nothing(
    citewell: Citewell, anyone: httpx.AsyncClient, auth: AuthSettings
) -> None:
    if auth.mode != "keys":
        return
    document_id = await stored(citewell)
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    terms = KeyTerms(frozenset({"ask"}), is_public=True)
    url = await asked(anyone, {"authorization": f"Bearer {await keys.create('default', 'visitors', terms=terms)}"})
    assert LINKS_PATH not in url
    shared = "SELECT grant_id FROM link_grants WHERE \"user\" = 'visitors' AND (rights->>'is_shared')::boolean"
    [(grant_id,)] = await citewell.library.database.fetch_all(shared)
    signer = await citewell.library.links.signer(Identity(user="visitors"))
    assert signer is not None
    assert (await anyone.get(signer.path(document_id, 0))).status_code == 200
    assert_shut(await anyone.get(replace(signer, grant_id=grant_id).path(document_id, 0)))


async def test_what_no_longer_opens_is_told_alike(
    citewell: Citewell, anyone: httpx.AsyncClient, auth: AuthSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = await stored(citewell, owner="ann")
    headers = await credentials(citewell, auth)
    url = await asked(anyone, headers)
    secret = url.partition(LINKS_PATH)[2].partition("#")[0]
    other = "A" if secret[-9] != "A" else "B"
    forged = [f"{secret[:-9]}{other}{secret[-8:]}", f"B{secret[1:]}", secret.partition(".")[0], "x", "x" * 999]
    for each in forged:
        assert_shut(await anyone.get(f"{LINKS_PATH}{each}"))

    async def sql(statement: str) -> None:
        async with citewell.library.database.connection() as connection:
            await connection.execute(statement)

    for closed, opened in (
        ("UPDATE documents SET owner = 'bob'", "UPDATE documents SET owner = 'ann'"),
        ("UPDATE documents SET deleted_at = now()", "UPDATE documents SET deleted_at = NULL"),
        ("UPDATE documents SET owner = NULL, readers = '{user:bob}'", "UPDATE documents SET readers = '{user:ann}'"),
    ):
        await sql(closed)
        assert_shut(await anyone.get(url))
        await sql(opened)
        assert (await anyone.get(url)).status_code == 200
    with monkeypatch.context() as later:
        import time

        now = time.time()
        later.setattr("tools.auth.document_links.time.time", lambda: now + 32 * DAY)
        assert_shut(await anyone.get(url))
    await citewell.library.links.revoke("default", "bob")
    assert (await anyone.get(url)).status_code == 200
    await citewell.library.links.revoke("default", "ann")
    assert_shut(await anyone.get(url))
    url = await asked(anyone, headers)
    assert (await anyone.get(url)).status_code == 200
    await citewell.library.links.rotate()
    assert_shut(await anyone.get(url))
    url = await asked(anyone, headers)
    assert (await anyone.get(url)).status_code == 200
    await citewell.library.documents.delete(Identity(user="ann"), document_id)
    assert_shut(await anyone.get(url))


async def test_what_the_viewer_shows_is_read_below_the_link(
    citewell: Citewell, anyone: httpx.AsyncClient, auth: AuthSettings
) -> None:
    document_id = await stored(citewell, owner="ann", text=None, data=SAFE.encode(), name="safe.md")
    url = (await asked(anyone, await credentials(citewell, auth))).partition("#")[0]
    linked = (await anyone.get(f"{url}/api/link")).json()
    assert linked["document_id"] == document_id
    raw = (await anyone.get(f"{url}/api/documents/{document_id}/raw-text")).json()
    text = "".join(segment["text"] for segment in raw["segments"])
    assert linked["quote"] == text[linked["start"] : linked["end"]]
    assert QUOTE.replace("&amp;", "&").replace("&lt;", "<") in linked["quote"]
    layout = (await anyone.get(f"{url}/api/documents/{document_id}/layout")).json()
    assert [block["kind"] for block in layout["blocks"]] == ["heading", "paragraph", "paragraph"]
    place = await anyone.get(f"{url}/api/documents/{document_id}/segments/0/place")
    assert (place.status_code, place.json()["boxes"]) == (200, [])
    details = (await anyone.get(f"{url}/api/documents/{document_id}")).json()
    assert details["original"]["name"] == "safe.md"
    original = await anyone.get(f"{url}/api/documents/{document_id}/original", headers={"range": "bytes=0-5"})
    assert (original.status_code, original.content) == (206, b"# Safe")
    assert "sandbox" in original.headers["content-security-policy"]
    for each in (details, raw, layout):
        assert each["document_id"] == document_id
    for path in ("", "/raw-text", "/layout", "/segments/0/place", "/original", "/pictures/0"):
        assert (await anyone.get(f"{url}/api/documents/{HANDBOOK}{path}")).status_code == 404, path
        assert (await anyone.get(f"{LINKS_PATH}x.y/api/documents/{document_id}{path}")).status_code == 404, path
    await citewell.library.links.revoke("default", "ann")
    for path in ("link", *(f"documents/{document_id}{each}" for each in ("", "/raw-text", "/layout", "/original"))):
        assert (await anyone.get(f"{url}/api/{path}")).status_code == 404, path


@pytest.mark.parametrize("auth", [KEYED], ids=["keys"])
async def test_a_link_of_a_key_that_reads_no_files_opens_the_text_alone(
    citewell: Citewell, anyone: httpx.AsyncClient, auth: AuthSettings
) -> None:
    document_id = await stored(citewell, text=None, data=SAFE.encode(), name="safe.md")
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    key = await keys.create("default", "ann", terms=KeyTerms(scopes=frozenset({"ask"})))
    url = (await asked(anyone, {"x-api-key": key})).partition("#")[0]
    assert (await anyone.get(f"{url}/api/documents/{document_id}/raw-text")).status_code == 200
    assert (await anyone.get(f"{url}/api/documents/{document_id}/layout")).status_code == 200
    assert (await anyone.get(f"{url}/api/documents/{document_id}/original")).status_code == 404


async def test_a_quote_that_has_changed_is_not_marked(
    citewell: Citewell, anyone: httpx.AsyncClient, auth: AuthSettings
) -> None:
    document_id = await stored(citewell, owner="ann")
    url = await asked(anyone, await credentials(citewell, auth))
    await stored(citewell, owner="ann", document_id=document_id, text="Preface.\n\n" + SAFE)
    opened = await anyone.get(url)
    assert opened.status_code == 200
    assert "<mark>" not in opened.text
    assert "changed since" in opened.text
    assert (await anyone.get(f"{url.partition('#')[0]}/api/link")).json()["quote"] is None


@pytest.mark.parametrize("auth", [KEYED], ids=["keys"])
async def test_the_links_of_a_revoked_key_end_with_it(
    citewell: Citewell, anyone: httpx.AsyncClient, auth: AuthSettings
) -> None:
    await stored(citewell)
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    first, second = await keys.create("default", "ann"), await keys.create("default", "ann")
    url = await asked(anyone, {"x-api-key": first})
    await keys.revoke(key_id(first))
    assert (await anyone.get(url)).status_code == 200, "the user still has a key"
    await keys.revoke(key_id(second))
    assert_shut(await anyone.get(url))


@pytest.mark.parametrize("auth", [JWT], ids=["jwt"])
async def test_groups_count_as_credentials_last_named_them(
    settings: Settings, citewell: Citewell, anyone: httpx.AsyncClient, auth: AuthSettings
) -> None:
    await stored(citewell, readers=["group:legal"])
    url = await asked(anyone, token("ann", "legal", "sales"))
    assert (await anyone.get(url)).status_code == 200
    assert (await anyone.get("/api/documents", headers=token("ann", "sales"))).status_code == 200
    assert_shut(await anyone.get(url))
    assert (await anyone.get("/api/documents", headers=token("ann", "legal"))).status_code == 200
    assert (await anyone.get(url)).status_code == 200
    async with citewell.library.database.connection() as connection:
        await connection.execute("UPDATE link_grants SET seen_at = now() - interval '8 days'")
    assert_shut(await anyone.get(url))
    async with citewell.library.database.connection() as connection:
        await connection.execute("UPDATE documents SET readers = NULL")
    assert (await anyone.get(url)).status_code == 200, "for everyone it needs no group"


async def test_links_can_be_off(settings: Settings, citewell: Citewell, auth: AuthSettings) -> None:
    document_id = await stored(citewell)
    off = settings.model_copy(update={"auth": auth, "links": LinkSettings(days=0)})
    object.__setattr__(citewell.library, "links", links_by(citewell, off))
    async with client_of(create_app(off, citewell=citewell)) as client:
        url = await asked(client, await credentials(citewell, auth))
        assert url == f"{client.base_url}/documents/{document_id}#segment-0"
        assert_shut(await client.get("/links/x"))


async def test_where_nobody_is_asked_links_stay_as_they_are(client: httpx.AsyncClient, citewell: Citewell) -> None:
    document_id = await stored(citewell)
    assert await asked(client, {}) == f"{client.base_url}/documents/{document_id}#segment-0"
    assert_shut(await client.get("/links/x"))


async def test_logs_have_no_tokens(settings: Settings, citewell: Citewell, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with client_of(create_app(settings, citewell=citewell)) as client:
            await client.get(f"{LINKS_PATH}abc.def")
    assert "GET /links/{token}" in caplog.text
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("http", "asyncio"))]
    assert not [line for line in ours if "abc.def" in line]


async def test_grants_that_no_link_can_name_are_deleted(settings: Settings, citewell: Citewell) -> None:
    from tools.auth.document_links import expire_links

    links = links_by(citewell, settings.model_copy(update={"auth": KEYED}))
    signer = await links.signer(Identity(user="ann"))
    assert isinstance(signer, LinkSigner)
    await expire_links(citewell.library.database, days=30)
    token = signer.path(HANDBOOK, 0)[len(LINKS_PATH) :].partition("#")[0]
    assert await links.open(token) is not None
    async with citewell.library.database.connection() as connection:
        await connection.execute("UPDATE link_grants SET seen_at = now() - interval '33 days'")
        await expire_links(citewell.library.database, days=30)
    assert await links.open(token) is None
