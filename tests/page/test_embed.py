"""The window in other people's pages: on a site of another origin, under a strict policy, against hostile styles."""

import asyncio
import gzip
import os
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, Route, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route as PathRoute

from api.static_files import BUNDLE_FOLDER, EMBED, EMBED_MARKUP
from graph.evidence import Identity
from tests.api.conftest import with_model
from tests.api.serving import served
from tests.page.axe import accessible
from tests.page.browsing import NARROW, Visits
from tests.page.sites import Site, site_of
from tests.page.test_sources import FORBIDDEN
from tests.scripted_openai import Hold, Reply, ScriptedOpenAI, answer
from tests.wire.node_clients import SKIPPED
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, Settings

NODE = Path(__file__).parent / "node"
MOST_BYTES = 30_000
FIRST = "The lamp of the pier turns every nine seconds."
SECOND = "Ships see it from twelve miles."
DOUBTED = "The lamp was lit in 1873."
PIER = f"""<title>The pier</title><h1>The pier</h1><p>It is made of oak.</p>
<h2 id="lamp">The lamp</h2><p>{FIRST} {SECOND}</p>"""
QUESTION = "How often does the lamp of the pier turn?"
# What would show, hide or move anything of the window that these rules reach.
HOSTILE = """html { font: 40px/3 fantasy; color: red; letter-spacing: 9px; text-transform: uppercase }
* { box-sizing: content-box; margin: 9px } citewell-ask { display: none; opacity: 0; position: absolute; left: -999px }
dialog { width: 10px } .answer, .text { visibility: hidden } [lang="ar"] { --citewell-accent: rgb(18, 52, 86) }
@media (prefers-color-scheme: dark) { body { background: #1b1b1d; color: #eee } }"""
ELSEWHERE = ("a request to elsewhere",)
STYLES = """(host) => {
  const { display, opacity, fontSize, letterSpacing } = getComputedStyle(host);
  const page = document.querySelector("p");
  return { display, opacity, fontSize, letterSpacing, page: page && getComputedStyle(page).fontSize };
}"""


@dataclass
class OwnPages:
    """A documentation site of its own origin, whose pages load the window as its owner wrote it."""

    url: str = ""
    citewell: str = ""
    attributes: str = ""
    allowed: str = ""
    root: str = 'lang="en"'
    body: str = "<main><h1>Welcome</h1><p>To the harbour.</p></main>"
    paths: list[str] = field(default_factory=list)

    async def give(self, request: Request) -> Response:
        """Give a page, under a policy that lets it run the window's script, ask its server, and nothing else."""
        self.paths.append(request.url.path)
        if request.url.path == "/own.css":
            return Response(HOSTILE, media_type="text/css")
        policy = (
            f"default-src 'none'; script-src {self.citewell}{self.allowed}; connect-src {self.citewell}; style-src 'self'; "
            "img-src data:; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        )
        body = f"<main>{PIER}</main>" if request.url.path == "/pier" else self.body
        page = (
            f'<!doctype html><html {self.root}><meta name="viewport" content="width=device-width">'
            '<link rel="icon" href="data:,"><title>Harbour</title><link rel="stylesheet" href="/own.css">'
            f"<body>{body}"
            f'<script src="{self.citewell}/embed.js" {self.attributes}></script></body></html>'
        )
        return HTMLResponse(page, headers={"content-security-policy": policy})


@pytest.fixture(scope="module")
async def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as it is served, with the window as its sources are."""
    node = shutil.which("node")
    if node is None or not (NODE / "node_modules").exists():
        pytest.skip(f"{SKIPPED}: the window in other people's pages")
    built, folder = tmp_path_factory.mktemp("embed"), tmp_path_factory.mktemp("page") / "page"
    command = [node, "build.mjs", "--embed", str(built)]
    process = await asyncio.create_subprocess_exec(*command, cwd=NODE, env={"PATH": os.environ["PATH"]})
    assert await process.wait() == 0
    shutil.copytree(BUNDLE_FOLDER, folder)
    for name in (EMBED, EMBED_MARKUP):
        shutil.copy(built / name, folder / name)
    return folder


@pytest.fixture
async def own_pages() -> AsyncIterator[OwnPages]:
    pages = OwnPages()
    async with served(Starlette(routes=[PathRoute("/{path:path}", pages.give)])) as url:
        pages.url = url.replace("127.0.0.1", "localhost")  # another host as well as another port
        yield pages


async def embedded(site: Site, pages: OwnPages, *, origin: str | None = None) -> None:
    """Bind a key to the site's origin, and put its page into the library."""
    library = site.citewell.library
    terms = KeyTerms(frozenset({"ask"}), origins=(origin or pages.url,))
    key = await ApiKeys(library.database, library.workspaces).create("default", "visitors", terms=terms)
    pages.citewell, pages.attributes = site.url, f'data-key="{key}" {pages.attributes}'
    new = NewDocument(name="pier.html", text=PIER, media_type="text/html", title="The pier", url=f"{pages.url}/pier")
    await library.ingestor.ingest(Identity(), new)


@pytest.fixture
async def keyed_site(settings: Settings, page_folder: Path) -> AsyncIterator[Site]:
    async with site_of(settings.model_copy(update={"auth": AuthSettings(mode="keys")}), page=page_folder) as site:
        yield site


@pytest.fixture
async def keyed_model_site(
    settings: Settings, page_folder: Path, scripted_openai: ScriptedOpenAI
) -> AsyncIterator[Site]:
    keyed = with_model(settings, scripted_openai).model_copy(update={"auth": AuthSettings(mode="keys")})
    async with site_of(keyed, scripted_openai, page=page_folder) as site:
        yield site


async def ask(page: Page, question: str = QUESTION) -> Locator:
    """Ask, and give the last answer's element."""
    await page.get_by_role("textbox", name="Your question").fill(question)
    await page.keyboard.press("Enter")
    return page.locator("citewell-ask article").last


def test_the_window_is_one_small_script(page_folder: Path) -> None:
    script = (page_folder / EMBED).read_bytes()
    assert len(gzip.compress(script, 9)) <= MOST_BYTES
    assert FORBIDDEN.findall(script.decode()) == []
    assert not re.search(r"\blocalStorage\b|\.cookie\b|indexedDB", script.decode())
    assert len(re.findall(r"\bimport\s*\(", script.decode())) == 1
    assert FORBIDDEN.findall((page_folder / EMBED_MARKUP).read_text("utf-8")) == []


async def test_a_page_elsewhere_under_a_strict_policy_shows_the_proof_and_leads_to_its_own_pages(
    chromium_page: Visits, keyed_site: Site, own_pages: OwnPages
) -> None:
    own_pages.attributes = 'data-questions="What is the pier made of?|How often does the lamp of the pier turn?"'
    await embedded(keyed_site, own_pages)
    page = await chromium_page(own_pages.url, faults=ELSEWHERE, reduced_motion="reduce")
    host = page.locator("citewell-ask")
    styles = await host.evaluate(STYLES)
    assert styles == {"display": "block", "opacity": "1", "fontSize": "16px", "letterSpacing": "normal", "page": "40px"}

    await page.keyboard.press("Tab")
    button = page.get_by_role("button", name="Ask", exact=True)
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Ask these pages")
    await expect(dialog.get_by_role("textbox", name="Your question")).to_be_focused()
    await accessible(page, "the window before a question")
    await dialog.get_by_role("button", name=QUESTION).click()
    await expect(dialog.get_by_role("status")).to_contain_text("The answer is complete.")
    reply = page.locator("citewell-ask article")
    await expect(reply.get_by_role("heading", name=QUESTION)).to_be_visible()
    await expect(reply.locator(".worth")).to_contain_text("quoted exactly")
    await expect(reply.locator("mark").first).to_contain_text(FIRST)
    link = reply.get_by_role("link", name="The pier › The lamp").first
    address = await link.get_attribute("href")
    assert address is not None
    assert address.startswith(f"{own_pages.url}/pier#lamp:~:text=The%20lamp%20of%20the%20pier")
    assert await link.get_attribute("target") is None
    await accessible(page, "an answer in the window")

    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")
    await page.set_viewport_size({"width": NARROW["width"], "height": NARROW["height"]})
    box = await dialog.bounding_box()
    assert box == {"x": 0, "y": 0, **NARROW}
    await link.click()
    await expect(page).to_have_url(re.compile(r"/pier#lamp$"))
    assert await page.context.cookies() == []
    assert await page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert {"/", "/pier"} <= set(own_pages.paths)


async def test_an_answer_is_read_while_it_is_written_and_goes_on_where_its_connection_broke(
    chromium_page: Visits, keyed_model_site: Site, own_pages: OwnPages
) -> None:
    own_pages.attributes, own_pages.body = (
        'data-box="#box" data-remember',
        '<main><h1>Welcome</h1><div id="box"></div></main>',
    )
    await embedded(keyed_model_site, own_pages)
    documents = (await keyed_model_site.citewell.library.documents.list(Identity())).documents
    pier = next(each.document_id for each in documents if each.title == "The pier")
    hold = Hold()
    written = answer({"text": f"{FIRST} {SECOND}\n\n- {DOUBTED}", "source_ids": [f"{pier}:0"]}, cut=7)
    steps = list(written.steps)
    held = Reply(steps=[*steps[: len(steps) // 2], hold, *steps[len(steps) // 2 :]])
    keyed_model_site.server.script(held, to="generate_answer")
    page = await chromium_page(own_pages.url, faults=(*ELSEWHERE, "net::ERR", "Failed to load"))

    reply = await ask(page)
    await asyncio.to_thread(hold.wait_reached)
    await expect(reply).to_contain_text("The lamp of the pier")
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await page.reload()
    reply = page.locator("citewell-ask article")
    await expect(reply).to_contain_text("The lamp of the pier")
    hold.release()
    await expect(page.get_by_role("status")).to_contain_text("The answer is complete.")
    await expect(reply.locator(".text li")).to_contain_text(DOUBTED)
    marker = reply.get_by_role("button", name="Source 1, The pier: show the passage").first
    await marker.focus()
    await page.keyboard.press("Enter")
    proof = reply.get_by_role("group", name="Source 1, The pier: show the passage").first
    await expect(proof.locator("blockquote")).to_contain_text(FIRST)
    await expect(proof.get_by_role("link")).to_have_attribute("href", re.compile(r"/pier#lamp:~:text="))
    await expect(marker).to_be_focused()
    await accessible(page, "a model's answer in a box")
    await page.reload()
    await expect(reply.locator(".text li")).to_contain_text(DOUBTED)

    async def break_off(route: Route) -> None:
        reply = await route.fetch()
        body = await reply.body()
        await route.fulfill(response=reply, body=body[: len(body) // 2])

    await page.route(re.compile("/api/sessions/.*/runs$"), break_off)
    keyed_model_site.server.script(written, to="generate_answer")
    again = await ask(page, f"{QUESTION} Say it again.")
    await expect(again).to_contain_text(DOUBTED)
    await expect(page.get_by_role("status")).to_contain_text("The answer is complete.")

    await page.unroute(re.compile("/api/sessions/.*/runs$"))
    stopped = Reply(steps=[*steps[: len(steps) // 2], Hold(), *steps[len(steps) // 2 :]])
    keyed_model_site.server.script(stopped, to="generate_answer")
    await page.get_by_role("textbox", name="Your question").fill(f"{QUESTION} And once more.")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("citewell-ask article").last).to_contain_text("The lamp of the pier")
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_role("button", name="Send")).to_be_visible()
    await expect(page.get_by_role("status")).to_have_text("Stopped.")


async def test_a_policy_that_allows_the_script_alone_leaves_the_words_as_they_are_written(
    chromium_page: Visits, keyed_site: Site, own_pages: OwnPages
) -> None:
    own_pages.attributes, own_pages.allowed = "data-box", "/embed.js"
    await embedded(keyed_site, own_pages)
    page = await chromium_page(own_pages.url, faults=(*ELSEWHERE, "Content Security Policy"))
    reply = await ask(page)
    await expect(page.get_by_role("status")).to_contain_text("The answer is complete.")
    await expect(reply.locator(".text blockquote").first).to_contain_text(FIRST)
    assert await reply.locator("mark").count() == 0


async def test_a_wrong_origin_and_a_missing_key_are_told_calmly_and_to_the_owner(
    chromium_page: Visits, keyed_site: Site, own_pages: OwnPages
) -> None:
    own_pages.root = 'lang="ar" dir="rtl"'
    await embedded(keyed_site, own_pages, origin="https://docs.example.com")
    told = (*ELSEWHERE, "Citewell: ", "CORS policy", "net::ERR_FAILED")
    page = await chromium_page(own_pages.url, faults=told, color_scheme="dark")
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    frame = page.locator("citewell-ask .frame")
    await expect(frame).to_have_attribute("dir", "rtl")
    button = page.get_by_role("button", name="اسأل")
    await expect(page.locator("citewell-ask")).to_have_attribute("data-scheme", "dark")
    await page.emulate_media(color_scheme="light")
    await expect(page.locator("citewell-ask")).to_have_attribute("data-scheme", "light")
    assert await button.evaluate("(button) => getComputedStyle(button).backgroundColor") == "rgb(18, 52, 86)"
    await button.click()
    await page.get_by_role("textbox", name="سؤالك").fill(QUESTION)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status")).to_have_text("لا يمكن الإجابة عن الأسئلة هنا الآن.")
    assert any("is this origin one of the key?" in each for each in heard)

    own_pages.attributes, own_pages.root = 'data-lang="vi" data-theme="dark" data-open="#own"', ""
    own_pages.body = '<main><h1>Welcome</h1><button id="own"><b>Own</b></button></main>'
    heard.clear()
    await page.reload()
    assert any(f"citewell keys create --origin {own_pages.url}" in each for each in heard)
    assert await page.locator("citewell-ask").get_attribute("data-scheme") == "dark"
    await expect(page.get_by_role("button", name="Hỏi")).to_have_count(0)
    await page.get_by_text("Own").click()
    await page.get_by_role("textbox", name="Câu hỏi của bạn").fill(QUESTION)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status")).to_have_text("Hiện không trả lời được câu hỏi ở đây.")
