"""A link from an answer, followed by a person's browser, which sends no credentials."""

from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest
from playwright.async_api import expect

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK
from tests.api.serving import served
from tests.page.axe import accessible
from tests.page.browsing import Visits
from tests.page.english import english
from tools.auth.api_keys import ApiKeys
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, Settings

DOCUMENT = str(uuid4())
PASSAGE = "Every keeper gets 25 days of leave a year. Unused leave lapses in March."
PARTS = "\n\n".join(f"# Part {number}\n\n" + f"Of part {number} much is said. " * 120 for number in range(8))
TEXT = f"{PARTS}\n\n# Leave\n\n{PASSAGE}\n"


@pytest.fixture
async def keyed(settings: Settings) -> AsyncIterator[tuple[str, str]]:
    """The address of a deployment that asks for keys, and a key."""
    keyed = settings.model_copy(update={"auth": AuthSettings(mode="keys")})
    async with open_citewell(keyed) as opened:
        document = NewDocument(document_id=DOCUMENT, name="leave.md", title="Leave", data=TEXT.encode(), owner="ann")
        await opened.library.ingestor.ingest(Identity(user="ann"), document)
        key = await ApiKeys(opened.library.database, opened.library.workspaces).create("default", "ann")
        async with served(create_app(keyed, citewell=opened)) as url:
            yield url, key


async def test_a_link_of_a_chat_completion_shows_the_quote(keyed: tuple[str, str], chromium_page: Visits) -> None:
    url, key = keyed
    async with httpx.AsyncClient(base_url=url, timeout=20, trust_env=False) as client:
        question = {"role": "user", "content": "How many days of leave does every keeper get?"}
        reply = await client.post(
            "/v1/chat/completions", json={"messages": [question]}, headers={"authorization": f"Bearer {key}"}
        )
    [annotation] = reply.json()["choices"][0]["message"]["annotations"]
    link = annotation["url_citation"]["url"]
    page = await chromium_page(link)
    mark = page.locator("mark")
    await expect(mark).to_have_text(PASSAGE)
    await expect(mark).to_be_in_viewport()
    await expect(page.get_by_role("heading", name="Leave").first).to_be_visible()
    token = link.partition("/links/")[2].partition("#")[0]
    assert page.url == f"{url}/#/links/{token}", "the viewer has taken the place of the page without scripts"
    await expect(page.get_by_role("button", name="Ask about this quote")).to_have_count(0)
    await page.get_by_role("button", name="As text").click()
    await expect(page.locator(".segment mark.current")).to_have_text(PASSAGE)
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Download original").click()
    assert (await downloading.value).suggested_filename == "leave.md"
    assert await page.evaluate("document.cookie") == ""
    await accessible(page, "what a signed link opens")
    plain = await chromium_page(link, java_script_enabled=False)
    await expect(plain.locator("section:target mark")).to_have_text(PASSAGE)
    shut = await chromium_page(f"{url}/links/{HANDBOOK}", faults=["404"])
    await expect(shut.get_by_role("heading")).to_have_text(english("viewer.shut"))
    await expect(shut.get_by_text("for a new link")).to_be_visible()
    await shut.goto(f"{url}/#/links/{token[:-3]}xxx")
    await expect(shut.get_by_role("heading")).to_have_text(english("viewer.shut"))
