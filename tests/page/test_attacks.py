"""Attacks through every text that reaches the page: nothing runs, nothing is fetched, and the text stands as text."""

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from answers.links import without_links, without_marks
from graph.evidence import Identity
from tests.api.conftest import new_session
from tests.page.attacks import EVERY, KEYS, MARKUP, corpus, deep, marked
from tests.page.browsing import PATIENCE, Visits, asking_with
from tests.page.english import english
from tests.page.forged import SESSION, Forgery
from tests.page.sites import Site, site_of
from tests.page.tampering import Watch, watched
from tests.scripted_openai import ScriptedOpenAI, Think, answer, say
from tests.scripted_web import ScriptedWeb, found, result, serve_web
from tools.library.ingestion import NewDocument
from tools.settings import ModelSettings, Settings

LONG = 60_000  # milliseconds that an answer of all attacks may take
LONGEST_QUESTION = 10_000
LONGEST_TITLE = 500
LONGEST_NAME = 255


def packed(texts: list[str], longest: int) -> list[str]:
    """Join texts into as few as a limit allows."""
    packs = [""]
    for text in texts:
        if len(packs[-1]) + len(text) + 1 > longest:
            packs.append("")
        packs[-1] = f"{packs[-1]} {text}".strip()
    return packs


def printable(text: str) -> str:
    """Leave out what the API refuses in a question or a title."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "", text)


def line(text: str) -> str:
    return " ".join(text.split())


def signs(text: str) -> str:
    """Leave what neither Markdown nor the markers of citations take away or add."""
    return re.sub(r"[^A-Za-z<>]", "", text)


@pytest.fixture(scope="module")
async def web() -> AsyncIterator[ScriptedWeb]:
    async with serve_web() as serving:
        yield serving


@pytest.fixture(scope="module")
async def site(module_settings: Settings, web: ScriptedWeb) -> AsyncIterator[Site]:
    """A deployment with models that have room for all attacks at once; the label of one is an attack."""
    with ScriptedOpenAI() as server:
        model: dict[str, Any] = {"base_url": server.base_url, "model": "any", "context_tokens": 200_000}
        models = [
            ModelSettings(name="scripted", **model),
            ModelSettings(name="hostile", label=MARKUP["image"], **model),
        ]
        told = {"models": models, "default_model": "scripted", "web": web.settings}
        settings = module_settings.model_copy(update=told)
        async with site_of(settings, server) as opened:
            yield opened


@pytest.fixture(autouse=True)
def unscripted(site: Site) -> Iterator[None]:
    yield
    site.server.unscript()


async def ingested(site: Site, **fields: Any) -> str:
    done = await site.citewell.library.ingestor.ingest(Identity(), NewDocument(**fields))
    return done.document_id


async def asked(watch: Watch, question: str) -> None:
    """Ask in the page, once it is there, and wait for the end."""
    await watch.page.wait_for_load_state("networkidle")
    before = await watch.page.locator(".turn").count()
    await watch.page.locator("#question").fill(question)
    await watch.page.locator("#question").press("Enter")
    await expect(watch.page.locator(".turn:not(.live)")).to_have_count(before + 1, timeout=LONG)


async def holds(watch: Watch, texts: list[str]) -> None:
    """Check that the page comes to hold texts as they are, but for white space, which stands between elements too."""
    missing = texts
    with suppress(TimeoutError):
        async with asyncio.timeout(LONG / 1000):
            while missing:
                held = "".join((await watch.text()).split())
                missing = [text for text in texts if "".join(text.split()) not in held]
    assert missing == []


async def cited(site: Site, document_id: str) -> dict[str, str]:
    """Give a document's text by the ids of its segments."""
    raw = (await site.client.get(f"/api/documents/{document_id}/raw-text")).json()
    return {f"{document_id}:{segment['segment_index']}": segment["text"] for segment in raw["segments"]}


def quoting(texts: list[str], segments: dict[str, str]) -> list[dict[str, Any]]:
    """Make a section of each text, which cites the segment that holds it."""
    return [{"text": each, "source_ids": [at for at in segments if each in segments[at]][:1]} for each in texts]


async def holds_everything(site: Site, visits: Visits, document_id: str) -> None:
    """Check that the document's own page, which is for browsers without scripts, holds all of its text."""
    page = await visits(site.url, go=False, java_script_enabled=False)
    watch = await watched(page, f"{site.url}/documents/{document_id}")
    await holds(watch, list((await cited(site, document_id)).values()))
    allowed = "html, head, meta, title, link, style, script, body, main, h1, h2, section, p, a"
    assert await watch.page.locator(f"*:not({allowed})").count() == 0
    assert watch.faults == []


async def test_a_conversation_of_attacks_is_text(chromium_page: Visits, site: Site) -> None:
    document_id = await ingested(site, text="\n\n".join(marked()), title="All of them")
    sections = quoting(marked(), await cited(site, document_id))
    attack = cycle(printable(text) for text in MARKUP.values())
    decided = {"intent": "content_query", "needs_retrieval": True, "reason": next(attack)}
    standing = {"standalone_question": next(attack), **decided}
    session_id = await new_session(site.client, page_ids=[document_id])
    watch = await watched(await chromium_page(site.url, go=False), f"{site.url}/#/sessions/{session_id}")
    questions = packed([printable(text) for text in marked()], LONGEST_QUESTION)
    for question in questions:
        site.server.script(say(json.dumps(standing)), to="decide_retrieval")
        site.server.script(say(json.dumps({"title": next(attack)})), to="title")
        thought = [Think(f"{text}\n") for text in marked()]
        written = answer(*sections, cut=400)
        site.server.script(replace(written, steps=[*thought, *written.steps]), to="generate_answer")
        await asked(watch, question)
    for _ in range(2):
        await expect(watch.page.locator(".turn:not(.live)")).to_have_count(len(questions))
        await watch.unfold()
        await holds(watch, questions)
        shown = signs(await watch.page.locator(".sections").last.inner_text())
        assert [text for text in MARKUP.values() if signs(text) not in shown] == []
        await watch.untouched()
        await watch.page.reload()


async def test_what_the_model_says_of_its_steps_is_text(chromium_page: Visits, site: Site) -> None:
    attacks = cycle(printable(text) for text in MARKUP.values())
    said = [next(attacks) for _ in range(6)]
    decided = {"intent": "content_query", "needs_retrieval": True, "reason": said[0], "standalone_question": said[1]}
    site.server.script(say(json.dumps(decided)), to="decide_retrieval")
    site.server.script(*[say(json.dumps({"relevant": []}))] * 4, to="grade_segments")
    for query, reason in ((said[2], said[3]), (said[4], said[5])):
        site.server.script(say(json.dumps({"query": query, "reason": reason})), to="rewrite_query")
    page = await chromium_page(site.url, go=False)
    await asking_with(page, effort="thorough")  # a model decides on a first question, and grades, in no other
    watch = await watched(page, site.url)
    await asked(watch, "How long is the notice period?")
    await expect(watch.page.locator(".worth.dash")).to_be_visible()
    await watch.unfold()
    await holds(watch, [without_marks(without_links(text)) for text in said[1:3]])
    await watch.untouched()


async def test_a_library_of_attacks_is_text(chromium_page: Visits, site: Site) -> None:
    titles = packed([line(printable(text)) for text in marked()], LONGEST_TITLE)
    tainted = {key: {"polluted": True} for key in KEYS}
    for number, title in enumerate(titles):
        attack = title[:200]
        address = ("/", "https://evil.test/?", "/\\", "https://a@evil.test/")[number % 4] + attack
        told = {"title": title, "slug": attack, "source_type": attack[:100], "url": address, "metadata": tainted}
        await ingested(
            site, text=f"# {title}\n\n{title}", name="attack.md", space={"id": attack, "slug": attack}, **told
        )
    hostile = await ingested(site, text="\n\n".join([*marked(), *deep()]), title="Every attack")
    watch = await watched(await chromium_page(site.url, go=False, faults=[" 4[0-9][0-9] "]), site.url)
    shelf = watch.page.get_by_role("region", name="Documents")
    await expect(shelf.get_by_text("Every attack", exact=True)).to_be_visible()
    await shelf.get_by_text("Sort and narrow").click()
    await watch.page.set_viewport_size({"width": 1280, "height": 56 * (len(titles) + 10)})  # no row is out of sight
    await holds(watch, titles)
    files = [
        {"name": f"{name}.md".replace("/", "⁄"), "mimeType": "text/html", "buffer": f"{name}: {text}".encode()}
        for name, text in zip(MARKUP.values(), MARKUP.values(), strict=True)
    ][:20]
    await shelf.locator("input[type=file]").first.set_input_files(files)
    await shelf.get_by_role("button", name=re.compile("^and .* more$")).click()
    await expect(shelf.locator(".incoming li")).to_have_count(len(files))
    added = shelf.locator(".incoming li[data-state=added]")
    await expect(added).to_have_count(len(files), timeout=4 * PATIENCE)  # they are read one after the other
    await holds(watch, [str(file["name"]) for file in files])
    await watch.untouched()
    await holds_everything(site, chromium_page, hostile)


async def test_sessions_named_by_attacks_are_text(chromium_page: Visits, site: Site) -> None:
    titles = packed([line(printable(text)) for text in marked()], LONGEST_NAME)
    for title in titles:
        session_id = await new_session(site.client)
        response = await site.client.patch(f"/api/sessions/{session_id}", json={"title": title})
        assert response.status_code == 200, response.text
    watch = await watched(await chromium_page(site.url, go=False), f"{site.url}/#/sessions/{session_id}")
    await expect(watch.page.get_by_role("heading", level=1)).to_have_text(titles[-1])
    await holds(watch, titles)
    await watch.untouched()


TRACES = {
    "a link": "Object.assign(document.createElement('a'), { href: 'javascript:pwned()' })",
    "a link that keeps its opener": "Object.assign(document.createElement('a'), { href: 'https://evil.test' })",
    "an element that the page has not": "document.createElement('x-pwned')",
    "the attribute src": "Object.assign(document.createElement('img'), { src: '/pwned' })",
    "out of its place": "Object.assign(document.createElement('link'), { rel: 'prefetch', href: '/api/x' })",
    "a request for GET": "Object.assign(document.createElement('img'), { src: '/pwned' })",
    "twice the id question": "Object.assign(document.createElement('div'), { id: 'question' })",
    "every object has polluted": "(Object.prototype.polluted = 1, document.createElement('p'))",
}


async def test_a_trace_of_an_attack_is_seen(chromium_page: Visits, site: Site) -> None:
    watch = await watched(await chromium_page(site.url, go=False, faults=["."]), site.url)
    await watch.untouched()
    for trace, made in TRACES.items():
        await watch.page.evaluate(f"document.body.append({made})")
        with pytest.raises(pytest.fail.Exception, match=trace):
            await watch.untouched()
        await watch.page.evaluate("document.body.lastChild.remove(); delete Object.prototype.polluted; 0")


async def open_proof(page: Page, marker: Locator) -> None:
    """Open a marker's card by keyboard; again where the answer was drawn anew between focus and key."""
    for _ in range(3):
        await marker.focus()
        await page.keyboard.press("Enter")
        with suppress(AssertionError):
            return await expect(page.locator(".passage-card:visible").first).to_be_visible(timeout=5_000)
    await expect(page.locator(".passage-card:visible").first).to_be_visible()


@pytest.mark.parametrize("fails", [False, True])
async def test_a_server_of_lies_is_believed_in_nothing(chromium_page: Visits, site: Site, fails: bool) -> None:
    page = await chromium_page(site.url, go=False)
    await Forgery(fails=fails).answer(page)
    watch = await watched(page, f"{site.url}/#/sessions/{SESSION}")
    await expect(page.locator(".turn:not(.live)")).to_have_count(1)
    await watch.unfold()
    await watch.untouched()
    for kind in ("quoted", "contradicted"):
        await open_proof(page, page.locator(f".marker.{kind}").first)
        await watch.untouched()
        await page.keyboard.press("Escape")
    await page.locator(".marker.quoted").first.click()
    await page.locator(".passage-card:visible").first.get_by_role("button").first.click()
    await expect(page.locator(".reader .segment").first).to_be_visible()
    await watch.untouched()
    await page.get_by_role("button", name="Documents", exact=True).click()
    await expect(page.get_by_role("region", name="Documents").get_by_role("checkbox").first).to_be_visible()
    await page.get_by_role("searchbox", name=english("shelf.search")).fill("pwned")
    await expect(page.get_by_text("Found in the texts")).to_be_visible()
    await watch.untouched()


RENDER = """
async (texts) => {
  const [home] = document.querySelector("script[type=module]").src.match(/^.*\\/page\\/\\w+\\//);
  const { render } = await import(`${home}text/markup.js`);
  const blocks = ["p", "ul", "ol", "li", "pre", "hr", "div", "blockquote", "h3", "h4", "h5", "h6", "input"];
  const cells = ["table", "thead", "tbody", "tr", "th", "td"];
  const allowed = new Set([...blocks, ...cells, "code", "br", "strong", "em", "s", "a"]);
  const links = ["href", "title", "rel", "target"];
  const attributes = new Set(["class", "dir", "start", "tabindex", "type", "disabled", "checked", "scope", ...links]);
  const letters = (text) => text.match(/\\p{L}/gu) ?? [];
  const found = [];
  for (const { text, whole, growing } of texts) {
    const box = document.createElement("div");
    box.append(...render(text, { growing }));
    const elements = [...box.querySelectorAll("*")];
    const tell = (what) => found.push(`${what}: ${JSON.stringify(text.slice(0, 200))}`);
    if (elements.some((each) => !allowed.has(each.localName))) tell("another element");
    const named = elements.flatMap((each) => [...each.attributes].map(({ name }) => name));
    if (named.some((name) => !attributes.has(name))) tell("another attribute");
    for (const { protocol, rel } of box.querySelectorAll("a")) {
      if (!["http:", "https:"].includes(protocol) || !/\\bnoopener\\b/.test(rel)) tell("a link");
    }
    if (elements.length > 4 * text.length + 10) tell("too many elements");
    const [said, given] = [letters(box.textContent), letters(text)];
    let at = 0;
    for (const letter of given) if (said[at] === letter) at += 1;
    if (at < said.length) tell("a letter that was not there");
    if (whole && said.length !== given.length) tell("a letter is lost");
  }
  return found;
}
"""


async def test_the_renderer_makes_little_of_any_text(chromium_page: Visits, modules_site: Site) -> None:
    page = await chromium_page(modules_site.url)
    await expect(page.locator(".shelf")).to_be_visible()  # the last of the modules, or the site would end before it
    chance = random.Random(6)
    plain = ["a", "B", "ш", "中", "é", "😀", " ", "\n", "\n\n", "\t", *"*_`~#>-+=|!&;:.,'\"\\\\/{}()$%^<"]
    signs = [
        *plain,
        "[",
        "]",
        "](",
        "[^1]",
        "```x",
        "1. ",
        "https://a.b/",
        "javascript:",
        "<b>",
        "&lt;",
        "\u202e",
        "\u0000",
    ]
    texts: list[dict[str, Any]] = []
    for number in range(600):
        whole = number % 2 == 0
        text = "".join(chance.choices(plain if whole else signs, k=chance.randint(1, 80)))
        # The word behind the signs of a fence names a language, which nobody is shown.
        texts.append({"text": text, "whole": whole and "```" not in text, "growing": number % 3 == 0})
    texts += [{"text": text, "whole": False, "growing": growing} for text in deep() for growing in (True, False)]
    texts += [{"text": text, "whole": False, "growing": False} for text in EVERY.values()]
    assert await page.evaluate(RENDER, texts) == []


async def test_instructions_in_documents_are_text(chromium_page: Visits, site: Site) -> None:
    texts = corpus()
    if texts is None:
        pytest.skip("without the attack corpus: it is kept beside the project, in shared/data/injection")
    document_id = await ingested(site, text="\n\n".join(texts), title="Instructions")
    await holds_everything(site, chromium_page, document_id)
    session_id = await new_session(site.client, page_ids=[document_id])
    sections = quoting(texts[::4], await cited(site, document_id))
    site.server.script(answer(*sections, cut=400), to="generate_answer")
    watch = await watched(await chromium_page(site.url, go=False), f"{site.url}/#/sessions/{session_id}")
    await asked(watch, texts[-1])
    await watch.unfold()
    await expect(watch.page.locator(".section").first).to_contain_text(texts[0])
    await watch.untouched()


async def test_what_the_web_and_a_marked_passage_say_is_text(
    chromium_page: Visits, site: Site, web: ScriptedWeb
) -> None:
    attacks = [line(printable(text)) for text in MARKUP.values()]
    addresses = [
        "javascript:pwned()",
        "data:text/html,x",
        "https://a@evil.test",
        "//evil.test",
        "https://evil.test/<b>",
    ]
    addresses += [f"https://{number}.test" for number in range(5)]
    told = [f"{attack} The lamp turns every twelve seconds." for attack in attacks]
    web.searches = [found(*(result(*each) for each in zip(addresses, told, attacks, strict=False)))]
    session_id = await new_session(site.client)
    ask = {"question": "How often does the lamp turn?", "web": "first", "search": "always", "stream": False}
    reply = await site.client.post(
        f"/api/sessions/{session_id}/runs", json={**ask, "selected_text": " ".join(attacks)[:1000]}
    )
    sources = reply.json()["message"]["sources"]
    assert {"web", "page"} & {source["kind"] for source in sources}
    watch = await watched(await chromium_page(site.url, go=False), f"{site.url}/#/sessions/{session_id}")
    await expect(watch.page.locator(".turn")).to_have_count(1)
    await watch.unfold()
    await holds(watch, [" ".join(attacks)[:1000], *(source["title"] for source in sources)])
    await watch.untouched()
