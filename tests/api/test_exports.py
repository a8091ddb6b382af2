"""A session or an answer is taken along with its proof, and without what its reader may no longer read."""

import io
import re
import zipfile
from collections.abc import AsyncIterator
from typing import Any

import docx
import httpx
import pytest
from lxml import etree, html
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.serving import client_of
from tests.api.test_errors import assert_problem
from tests.api.test_links import links_by
from tests.api.test_readers import KEY, token
from tools.exports.html_report import POLICY
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, Settings

QUESTION = "What does the safe of the office open with?"
ATTACK = "<img src=https://evil.example/x onerror=pwned()> [^1]: ![x](https://evil.example/y) | =cmd()"
SAFE = f"# Safe\n\nThe safe of the office opens with the code 4711 {ATTACK} always.\n\nThe spare key is with Ann.\n"
TITLE = "</title><script>pwned()</script> 保险柜 *x*"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


@pytest.fixture
async def anyone(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    jwt = settings.model_copy(update={"auth": AuthSettings(mode="jwt", jwt_secret=SecretStr(KEY))})
    object.__setattr__(citewell.library, "links", links_by(citewell, jwt))
    async with client_of(create_app(jwt, citewell=citewell)) as client:
        yield client


async def asked(
    client: httpx.AsyncClient, headers: dict[str, str], question: str = QUESTION, **more: Any
) -> dict[str, str]:
    """Ask in a session of one's own; return the ids of the session, the question's answer and the cited document."""
    made = await client.post("/api/sessions", json={"title": TITLE}, headers=headers)
    session = made.json()["session_id"]
    body = {"question": question, "min_score": 0, "stream": False, **more}
    ended = (await client.post(f"/api/sessions/{session}/runs", json=body, headers=headers)).json()
    cited = [each["document_id"] for each in ended["message"]["citations"]]
    return {"session": session, "message": ended["message_id"], "document": (cited or [""])[0]}


async def stored(citewell: Citewell, **fields: Any) -> str:
    document = NewDocument(**{"text": SAFE, "title": "Safe <b>", "media_type": "text/plain", **fields})
    return (await citewell.library.ingestor.ingest(Identity(user="ann", groups=("legal",)), document)).document_id


async def taken(
    client: httpx.AsyncClient, headers: dict[str, str], ids: dict[str, str], **params: str
) -> httpx.Response:
    return await client.get(f"/api/sessions/{ids['session']}/export", params=params, headers=headers)


async def test_each_format_holds_the_answer_its_quote_and_who_judged_it(
    citewell: Citewell, anyone: httpx.AsyncClient
) -> None:
    await stored(citewell, owner="ann")
    ann = token("ann")
    ids = await asked(anyone, ann)
    report = await taken(anyone, ann, ids, format="html")
    assert report.headers["content-type"] == "text/html; charset=utf-8"
    named = report.headers["content-disposition"]
    assert named.startswith('attachment; filename="')
    assert "filename*=UTF-8''" in named
    assert "%E4%BF%9D%E9%99%A9%E6%9F%9C" in named
    assert not re.search(r"[<>/\\]", named)
    assert (report.headers["x-content-type-options"], report.headers["cache-control"]) == (
        "nosniff",
        "private, no-store",
    )
    page = html.document_fromstring(report.content)
    [policy] = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == POLICY
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "evil.example" not in " ".join(page.xpath("//@*"))
    assert not page.xpath("//script | //img | //link | //iframe | //object | //form | //*[@onerror or @src or @style]")
    assert page.findtext(".//h1") == page.findtext(".//title") == TITLE
    [passage] = page.xpath("//div[@class='answer'][following-sibling::ol[1]/li[@id='quote-1']]")
    assert "4711 <img src=https://evil.example/x onerror=pwned()>" in passage.text_content()
    said = " ".join(page.text_content().split())
    for part in (
        "Safe <b>",
        "Quoted from Safe <b>",
        "Answers the question. Passages quoted exactly: 1.",
        "comparing the texts",
        "The spare key is with Ann.",
        "Version quoted",
        "Total",
    ):
        assert part in said, part
    assert all(each.startswith(("#quote-", "http")) for each in page.xpath("//a/@href"))
    [signed] = {each for each in page.xpath("//a/@href") if each.startswith("http")}
    assert signed.startswith(f"{anyone.base_url}/links/")
    assert (await anyone.get(signed)).status_code == 200

    word = await taken(anyone, ann, ids, format="docx", message=ids["message"])
    assert word.headers["content-type"].endswith("wordprocessingml.document")
    file = docx.Document(io.BytesIO(word.content))
    assert [each.text for each in file.paragraphs if each.style.name == "Title"] == [TITLE]
    assert QUESTION in [each.text for each in file.paragraphs if each.style.name == "Heading 1"]
    assert file.tables[0].rows[0].cells[1].text == "Verdict"
    parts = zipfile.ZipFile(io.BytesIO(word.content))
    notes = etree.fromstring(parts.read("word/footnotes.xml"))
    assert "4711 <img" in "".join(notes.itertext())
    referred = etree.fromstring(parts.read("word/document.xml")).findall(f".//{W}footnoteReference")
    numbered = [each.get(f"{W}id") for each in notes if each.get(f"{W}type") is None]
    assert [each.get(f"{W}id") for each in referred] == numbered, "each footnote is referred to once"
    assert not parts.read("word/document.xml").count(b"instrText")
    external = re.findall(rb'Target="([^"]+)" TargetMode="External"', parts.read("word/_rels/footnotes.xml.rels"))
    assert [each.decode() for each in external] == [signed]

    written = await taken(anyone, ann, ids, format="md")
    assert written.headers["content-type"] == "text/markdown; charset=utf-8"
    shown = html.fromstring(MarkdownIt("gfm-like", {"linkify": False}).use(footnote_plugin).render(written.text))
    assert not shown.xpath(".//img | .//script | .//b | .//*[@onerror]")
    assert {each for each in shown.xpath(".//a/@href") if not each.startswith("#")} == {signed}
    assert len(shown.xpath(".//li[contains(@class, 'footnote-item')]")) == 1
    assert "4711 <img src=https:" in shown.text_content()


async def test_the_file_speaks_the_languages_of_the_page(citewell: Citewell, anyone: httpx.AsyncClient) -> None:
    await stored(citewell)
    ann = token("ann")
    ids = await asked(anyone, ann)
    for language, word in (("vi", "Trích nguyên văn"), ("zh", "原文引用")):
        for form in ("html", "docx", "md"):
            file = await taken(anyone, ann, ids, format=form, language=language)
            assert file.status_code == 200
            if form == "html":
                assert word in file.text
                assert f'<html lang="{language}"' in file.text


async def test_what_its_reader_may_no_longer_read_is_left_out_and_told(
    citewell: Citewell, anyone: httpx.AsyncClient
) -> None:
    await stored(citewell, readers=["group:legal"])
    ids = await asked(anyone, token("ann", "legal"))
    for form in ("html", "md", "docx"):
        before = await taken(anyone, token("ann", "legal"), ids, format=form)
        after = await taken(anyone, token("ann", "sales"), ids, format=form)
        assert after.status_code == 200
        texts = [_text(each, form) for each in (before, after)]
        assert "4711" in texts[0]
        assert [each for each in ("4711", "Safe <b>", "spare key") if each in texts[1]] == [], form
        assert "Parts are left out" in texts[1]
        assert "Parts are left out" not in texts[0]


async def test_a_refusal_says_so_and_what_came_nearest(citewell: Citewell, anyone: httpx.AsyncClient) -> None:
    await stored(citewell)
    ids = await asked(anyone, token("ann"), "Which birds nest on the chimney of the lighthouse?", min_score=0.9)
    text = (await taken(anyone, token("ann"), ids, format="md")).text
    assert "not hold the answer" in text


async def test_only_what_is_there_is_exported(citewell: Citewell, anyone: httpx.AsyncClient) -> None:
    await stored(citewell)
    ann, ids = token("ann"), await asked(anyone, token("ann"))
    assert_problem(await taken(anyone, token("bob"), ids, format="md"), 404, "not_found")
    assert_problem(await taken(anyone, ann, ids, format="pdf"), 422, "invalid_request")
    history = (await anyone.get(f"/api/sessions/{ids['session']}", headers=ann)).json()["messages"]
    refused = await taken(anyone, ann, ids, format="md", message=history[0]["message_id"])
    assert "not a question" in assert_problem(refused, 422, "invalid_request")["detail"]
    other = await asked(anyone, ann)
    assert_problem(await taken(anyone, ann, ids, format="md", message=other["message"]), 404, "not_found")


async def test_the_version_that_was_quoted_is_told_from_the_current_one(
    citewell: Citewell, anyone: httpx.AsyncClient
) -> None:
    document = await stored(citewell)
    ids = await asked(anyone, token("ann"))
    await stored(citewell, document_id=document, text=SAFE.replace("4711", "4712"))
    page = html.document_fromstring((await taken(anyone, token("ann"), ids, format="html")).content)
    [row] = page.xpath("//section//tbody/tr")
    assert [cell.text_content() for cell in row[1:3]] == ["1", "2"]
    assert "no longer in it" in page.text_content()


def _text(file: httpx.Response, form: str) -> str:
    if form == "docx":
        parts = zipfile.ZipFile(io.BytesIO(file.content))
        names = ("word/document.xml", "word/footnotes.xml")
        return " ".join("".join(etree.fromstring(parts.read(name)).itertext()) for name in names)
    return html.fromstring(file.content).text_content() if form == "html" else file.text.replace("\\", "")
