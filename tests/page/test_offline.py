"""Without network: the page opens, shows what its reader chose to keep, and shows it to nobody else."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Error as BrowserError
from playwright.async_api import Page, expect

from graph.evidence import Identity
from tests.page.axe import accessible
from tests.page.browsing import PATIENCE, Visits
from tests.page.english import english
from tests.page.sites import Site, site_of
from tests.page.test_reconnect import CUT_OFF, FIRST, QUESTION, SECOND, Line, ask, sections, shown
from tests.page.test_viewer import FILES, QUOTE, drawn
from tools.auth.api_keys import ApiKeys
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, Settings

OFFLINE = "You are offline."
KEPT = "async () => (await (await caches.open('citewell-read')).keys()).map(({ url }) => new URL(url).pathname)"
LEFT = """async () => [await caches.keys(), (await navigator.serviceWorker.getRegistrations()).length,
  localStorage.getItem('citewell.offline')]"""
READY = """async () => (await caches.keys()).some((name) => name.startsWith('citewell-shell')) &&
  (await navigator.serviceWorker.getRegistrations()).some(({ active }) => active?.state === 'activated')"""
NOT_LET_IN = "status of 401"


@asynccontextmanager
async def line_to(site: Site) -> AsyncIterator[Line]:
    line = Line(int(site.url.rsplit(":", 1)[1]))
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    line.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield line
    server.close()
    line.cut()
    await server.wait_closed()


@pytest.fixture
async def line(model_site: Site) -> AsyncIterator[Line]:
    async with line_to(model_site) as line:
        yield line


async def until(page: Page, holds: str) -> None:
    """Wait until what a function of the page promises is true."""
    moment = "new Promise((done) => setTimeout(done, 50))"
    async with asyncio.timeout(PATIENCE / 1000):
        await page.evaluate(f"async () => {{ while (!(await ({holds})())) await {moment}; }}")


async def choose(page: Page, entry: str) -> None:
    await page.get_by_role("button", name="Settings").click()
    await page.get_by_role("menuitemradio", name=entry).click()


async def keep(page: Page) -> None:
    await choose(page, "Keep what I read on this device")
    await until(page, READY)


async def is_kept(page: Page, path: str) -> None:
    """Wait until a reply is kept, which nobody is told of."""
    await until(page, f"async () => (await ({KEPT})()).some((each) => each.includes({json.dumps(path)}))")


async def test_what_was_read_is_there_without_network_and_goes_when_that_is_wished(
    chromium_page: Visits, model_site: Site, line: Line
) -> None:
    model_site.server.script(sections(FIRST, SECOND), to="generate_answer")
    page = await chromium_page(line.url, service_workers="allow", faults=CUT_OFF)
    await ask(page, QUESTION)
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    assert await page.evaluate(LEFT) == [[], 0, None]
    await keep(page)
    await shown(page).locator(".marker").first.click()
    await shown(page).get_by_role("button", name="Read in the document").click()
    await expect(page.locator(".reader mark").first).to_be_visible()
    await is_kept(page, "/raw-text")
    await page.locator(".reader").get_by_role("button", name="Close the document").click()
    await is_kept(page, f"/api/sessions/{page.url.rsplit('/', 1)[1]}")
    await is_kept(page, "/v1/models")
    await page.reload()  # from here on the worker answers for it

    line.cut()
    await page.reload()
    await expect(page.get_by_role("status").filter(has_text=OFFLINE)).to_be_visible()
    await expect(shown(page)).to_contain_text(SECOND)
    await shown(page).locator(".marker").first.click()
    await shown(page).get_by_role("button", name="Read in the document").click()
    await expect(page.locator(".reader mark").first).to_have_text(FIRST)
    await accessible(page, "without network")
    await page.locator(".reader").get_by_role("button", name="Close the document").click()
    await ask(page, "When does unused leave lapse?")
    await expect(page.get_by_text(english("conversation.failed"))).to_be_visible()

    line.mend()
    await page.reload()
    await expect(shown(page)).to_contain_text(SECOND)
    await expect(page.get_by_text(OFFLINE)).to_have_count(0)
    await page.get_by_role("button", name="Actions for").first.click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("status").get_by_role("button", name="Close").click()
    await expect(page.get_by_role("article")).to_have_count(0)
    await until(page, f"async () => !(await ({KEPT})()).some((each) => /sessions\\/./.test(each))")

    await choose(page, "Keep nothing on this device")
    await gone(page)
    line.cut()
    with pytest.raises(BrowserError):
        await page.reload()


async def test_a_document_looks_as_it_is_without_network_and_a_pdf_is_shown_as_text(
    chromium_page: Visits, model_site: Site, line: Line
) -> None:
    ingestor = model_site.citewell.library.ingestor
    lamps, sleep = [
        f"documents/{(await ingestor.ingest(Identity(), NewDocument(data=FILES[name], name=name))).document_id}"
        for name in ("lamps.md", "sleep.pdf")
    ]
    page = await chromium_page(line.url, service_workers="allow", faults=CUT_OFF)
    await keep(page)
    await page.goto(f"{line.url}/#/{sleep}")
    await drawn(page.get_by_role("region", name="Page 1 of 4").locator("canvas"))
    await page.goto(f"{line.url}/#/{lamps}")
    await expect(page.locator(".reader td").first).to_have_text("Red")
    await is_kept(page, f"{lamps}/layout")

    line.cut()
    await page.reload()
    await expect(page.get_by_role("status").filter(has_text=OFFLINE)).to_be_visible()
    await expect(page.locator(".reader td").first).to_have_text("Red")
    await page.goto(f"{line.url}/#/{sleep}")
    await expect(page.get_by_text("This is its text.")).to_be_visible()
    await expect(page.locator(".reader .segment").last).to_contain_text(QUOTE)


@pytest.fixture
async def keyed_site(settings: Settings) -> AsyncIterator[Site]:
    async with site_of(settings.model_copy(update={"auth": AuthSettings(mode="keys")})) as site:
        yield site


async def test_another_person_sees_nothing_of_it(chromium_page: Visits, keyed_site: Site) -> None:
    keys = ApiKeys(keyed_site.citewell.library.database, keyed_site.citewell.library.workspaces)
    ann, ben = [await keys.create("default", name) for name in ("ann", "ben")]
    async with line_to(keyed_site) as line:
        page = await chromium_page(line.url, service_workers="allow", faults=[NOT_LET_IN, *CUT_OFF])
        await enter(page, ann)
        await ask(page, "When does unused leave lapse?")
        await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
        await keep(page)
        await is_kept(page, "/api/sessions/")
        await page.reload()
        await expect(page.get_by_role("article")).to_contain_text("March")

        line.cut()
        await page.reload()
        await expect(page.get_by_role("article")).to_contain_text("March")
        for key in (ben, ""):
            await page.evaluate("key => sessionStorage.setItem('citewell.key', key)", key)
            await page.reload()
            await expect(page.get_by_text(english("notices.unreachable")).first).to_be_visible()
            await expect(page.get_by_text("March")).to_have_count(0)
            await expect(page.get_by_role("link", name="When does unused")).to_have_count(0)

        line.mend()
        await page.reload()
        await expect(page.get_by_label("API key")).to_be_visible()
        await until(page, f"async () => !(await ({KEPT})()).length")
        await enter(page, ann)
        await is_kept(page, "/api/sessions/")
        await page.evaluate("key => sessionStorage.setItem('citewell.key', key)", ben)
        await page.reload()
        await gone(page)

        await keep(page)
        await is_kept(page, "/api/me")
        await page.get_by_role("button", name="Settings").click()
        await page.get_by_role("menuitem", name="Forget").click()
        await expect(page.get_by_label("API key")).to_be_visible()
        await gone(page)


async def enter(page: Page, key: str) -> None:
    await page.get_by_label("API key").fill(key)
    await page.get_by_role("button", name="Open").click()
    await expect(page.get_by_role("textbox", name="Your question")).to_be_visible()


async def gone(page: Page) -> None:
    """Wait until nothing is left of what was kept, of the worker and of the choice."""
    await until(page, f"async () => JSON.stringify(await ({LEFT})()) === '[[],0,null]'")
