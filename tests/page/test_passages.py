"""What a reader sees of passages: whether they answer, where they are quoted from, and in each what answers best."""

import re
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from answers.answerhood import ANSWERHOODS, answerhood_of
from api.static_files import PAGE_FOLDER
from graph.evidence import Identity
from tests.page.axe import accessible
from tests.page.browsing import Visits
from tests.page.english import english
from tests.page.relay import Relay, relay_of
from tests.page.retold import Event, Retold, source, tell_all, written
from tests.page.sites import Site
from tools.library.ingestion import NewDocument

TABLE = """# Mức phí

## Theo tháng

| Gói | Giá | Người dùng |
|---|---|---|
| Nhỏ | 10 € | 3 |
| Vừa | 25 € | 10 |
| Lớn | 25 € | 50 |
"""
LIST = """# House rules

## Balcony

Not allowed:

- Grilling
- Smoking on the balcony
- Drying clothes. It drips.

Ask the porter. 🏖️ Ask him first.
"""
CODE = """# Install

Set the port before you start the service:

```bash
export PORT=8080 | tee log
export HOST=0.0.0.0
```

The default is 80.
"""
LAMP = "The lamp turns. It turns at night. The lamp turns. Ships see it."


class Passages:
    """Documents of a site, and passages of them as a run without a model tells them."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.shown: list[tuple[Event, str, dict[str, Any]]] = []

    async def put(self, title: str, text: str) -> tuple[str, str]:
        """Store a document; give its id and its canonical text."""
        new = NewDocument(name=f"{title}.md", title=title, text=text)
        stored = await self.site.citewell.library.ingestor.ingest(Identity(), new)
        raw = (await self.site.client.get(f"/api/documents/{stored.document_id}/raw-text")).json()
        return stored.document_id, "".join(each["text"] for each in raw["segments"])

    async def add(
        self, title: str, document: str, quote: str, best: str, markdown: str, *, nth: int = 0, path: Iterable[str] = ()
    ) -> None:
        """Quote a passage of a new document; ``best`` answers best, the ``nth`` where it is said several times."""
        document_id, text = await self.put(title, document)
        start = text.index(quote)
        places = [found.start() for found in re.finditer(re.escape(best), quote)]
        highlight = {"start": start + places[nth], "end": start + places[nth] + len(best)}
        place = {"document_id": document_id, "segment_id": f"{document_id}:0", "segment_index": 0, "page_idx": None}
        index = len(self.shown) + 1
        found = {**source(index), **place, "title": title, "heading": title, "end": len(text), "excerpt": quote[:40]}
        told = {"start": start, "end": start + len(quote), "quote": quote, "highlight": highlight}
        self.shown.append((found, markdown, {**place, **told, "heading_path": [title, *path], "context": []}))

    def answered(self, chance: float | None = 0.82, **claimed: Any) -> list[Event]:
        """Tell an answer that shows the passages."""

        def claims(text: str, index: int) -> list[Event]:
            more = {"origin": "cited", "verdict": "supported", "source_index": index + 1, "section_index": index}
            citation = {**self.shown[index][2], **more}
            claim = {"start": 0, "end": len(text), "text": text, "verdict": "supported", "by": "text", "reasons": []}
            return [{**claim, "citations": [citation], **claimed}]

        events = written([markdown for _, markdown, _ in self.shown], sources=len(self.shown), claims=claims)
        found = [each for each, _, _ in self.shown]
        counts = {"supported": len(found), "contradicted": 0, "unsupported": 0, "unverified": 0}
        assessment = {"supported": True, "utility": 1.0, "claims": counts, "reason": "", "model_score": None}
        for event in events:
            if event["type"] == "run_started":
                event["family"] = "extractive"
            if event["type"] == "sources_graded":
                event["sources"] = found
        events[-1]["message"] |= {"family": "extractive", "sources": found}
        events[-1]["message"]["assessment"] = {**assessment, "answerhood": chance}
        return events

    def refused(self) -> list[Event]:
        """Tell a refusal that shows the passages as what came nearest."""
        nearest = [{**found, "passage": {**place, "text": markdown}} for found, markdown, place in self.shown]
        events = written(["Nothing answers this."])
        refusal = {"code": "nothing_relevant", "tried": ["?"], "library": True, "web_failed": False, "written_in": []}
        end = {"outcome": "abstained", "stop_reason": "nothing_relevant"}
        message = {"sections": [{"text": "No.", "source_ids": []}], "claims": [], "sources": [], "nearest": nearest}
        return [events[0], {**events[-1], **end, "message": {**events[-1]["message"], **message, "refusal": refusal}}]


async def every_form(site: Site) -> Passages:
    passages = Passages(site)
    rows = "Gói | Giá | Người dùng\nNhỏ | 10 € | 3\nVừa | 25 € | 10\nLớn | 25 € | 50"
    table = (
        "| Gói | Giá | Người dùng |\n| --- | --- | --- |\n| Nhỏ | 10 € | 3 |\n| Vừa | 25 € | 10 |\n| Lớn | 25 € | 50 |"
    )
    await passages.add("Mức phí", TABLE, rows, "Vừa | 25 € | 10", table, path=["Theo tháng"])
    _, text = await passages.put("Rules", LIST)
    items = text[text.index("Not allowed") : text.index("Drying")].rstrip("- \n")
    await passages.add("House rules", LIST, items, "Smoking on the balcony", items, path=["Balcony"])
    code = "export PORT=8080 | tee log\nexport HOST=0.0.0.0"
    _, text = await passages.put("Setup", CODE)
    quote = text[text.index("Set the port") : text.index("The default")].rstrip()
    markdown = f"Set the port before you start the service:\n\n```bash\n{code}\n```"
    await passages.add("Install", CODE, quote, "export HOST=0.0.0.0", markdown)
    return passages


async def told(relay: Relay, page: Page, events: list[Event], number: int = 1) -> Locator:
    """Tell a run in a session of its own, and give the turn that it is."""
    session = Retold(number, events)
    tell_all(relay, [session])
    await page.goto(f"{relay.url}#/sessions/{session.id}")
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    return page.locator(".turn").last


@pytest.fixture
async def relay(extractive_site: Site) -> AsyncIterator[Relay]:
    async with relay_of(extractive_site.url) as relay:
        yield relay


async def test_passages_are_tables_lists_and_code_with_the_best_entry_marked(
    chromium_page: Visits, extractive_site: Site, relay: Relay
) -> None:
    passages = await every_form(extractive_site)
    page = await chromium_page(relay.url, go=False)
    for number in (1, 2):
        turn = await told(relay, page, passages.answered(), number)
        sections = turn.locator(".section")
        await expect(sections.nth(0).get_by_role("row")).to_have_count(4)
        await expect(sections.nth(0).locator("tr", has=page.locator("mark"))).to_have_text(["Vừa25 €10"])
        await expect(sections.nth(1).locator("li mark")).to_have_text(["Smoking on the balcony"])
        await expect(sections.nth(2).locator("pre mark")).to_have_text(["export HOST=0.0.0.0"])
        await expect(turn.locator(".marker")).to_have_count(3)
        await expect(sections.locator(".text .marker")).to_have_count(0)
        froms = sections.locator(".quoted-from")
        await expect(froms.nth(0)).to_contain_text("Mức phí › Theo tháng")
        await expect(froms.nth(1)).to_contain_text("House rules › Balcony")
        await expect(turn.locator("svg path[d^='M5 12.5']")).to_have_count(0)  # the tick
        assert not re.search("support", await turn.inner_text(), re.IGNORECASE)
    said = await sections.nth(1).locator("mark").evaluate("(mark) => getComputedStyle(mark, '::before').content")
    assert english("proof.best").strip() in said


async def test_a_passage_tells_its_date_and_the_older_documents_that_hold_a_copy(
    chromium_page: Visits, extractive_site: Site, relay: Relay
) -> None:
    passages = Passages(extractive_site)
    await passages.add("Lamp 2026", f"# Lamp\n\n{LAMP}\n", LAMP, "It turns at night.", LAMP)
    copy = {"segment_id": "old:0", "document_id": "old", "title": "Lamp <2025>", "date": "2025-05-01", "differs": False}
    copies = [
        {**copy, "dated_by": "document"},
        {**copy, "title": "Lantern", "date": "", "dated_by": "", "differs": True},
    ]
    passages.shown[0][2].update(date="2026-05-01", dated_by="library", copies=copies)
    turn = await told(relay, await chromium_page(relay.url, go=False), passages.answered())
    said = turn.locator(".quoted-from")
    await expect(said.locator("cite")).to_have_text(["Lamp 2026", "Lamp <2025>", "Lantern"])
    await expect(said.locator(".date")).to_have_count(2)
    for words in ("alsoIn", "changedIn"):
        await expect(said).to_contain_text(english(f"proof.{words}"))


async def test_the_proof_is_the_passage_with_what_answers_best_standing_out(
    chromium_page: Visits, extractive_site: Site, relay: Relay
) -> None:
    passages = Passages(extractive_site)
    await passages.add(
        "Lamp", f"# Lamp\n\n## At night\n\n{LAMP}\n", LAMP, "The lamp turns.", LAMP, nth=1, path=["At night"]
    )
    before, after = "The lamp turns. It turns at night. ", " Ships see it."
    page = await chromium_page(relay.url, go=False)
    turn = await told(relay, page, passages.answered())
    await expect(turn.locator(".text p")).to_have_text(LAMP)
    await expect(turn.locator(".text mark")).to_have_text(["The lamp turns."])
    assert await turn.locator(".text mark").evaluate("(mark) => mark.previousSibling.textContent") == before
    await turn.locator(".marker").click()  # the passage is the proof: the marker leads to its document
    for way in ("Document", "As text"):
        await page.get_by_role("button", name=way, exact=True).click()
        reader = page.locator(".reader")
        await expect(reader.locator("mark.current")).to_have_text([before, "The lamp turns.", after])
        await expect(reader.locator("mark.best")).to_have_text(["The lamp turns."])
        drawn = await reader.locator("mark.current").evaluate_all(
            "(marks) => marks.map((mark) => getComputedStyle(mark).backgroundColor)"
        )
        assert drawn[0] == drawn[2] != drawn[1]
    await accessible(page, "a passage and its document")


async def test_a_highlight_that_is_not_found_is_not_shown(
    chromium_page: Visits, extractive_site: Site, relay: Relay
) -> None:
    passages = Passages(extractive_site)
    await passages.add("Ships", LAMP, LAMP, "Ships see it.", "Boats, as a plugin words it.")
    page = await chromium_page(relay.url, go=False)
    turn = await told(relay, page, passages.answered())
    await expect(turn.locator(".text")).to_have_text("Boats, as a plugin words it.")
    await expect(turn.locator(".text mark")).to_have_count(0)


async def test_whether_it_answers_is_told_first_in_three_degrees(
    chromium_page: Visits, extractive_site: Site, relay: Relay
) -> None:
    passages = Passages(extractive_site)
    await passages.add("Night", LAMP, LAMP, "Ships see it.", LAMP)
    page = await chromium_page(relay.url, go=False)
    for number, (chance, degree) in enumerate([(0.9, "answers"), (0.5, "may_answer"), (0.2, "nearest")], 1):
        turn = await told(relay, page, passages.answered(chance), number)
        said = english(f"answer.answerhood.{degree}")
        answer = await turn.get_by_role("group", name="Answer", exact=True).inner_text()
        assert answer.startswith(f"{said}: 1 passage, quoted exactly"), answer
        await expect(turn.get_by_text(said)).to_be_visible()
    turn = await told(relay, page, passages.answered(None), 4)
    await expect(turn.locator(".text")).to_have_text(LAMP)
    await expect(turn.locator(".worth")).to_have_text("1 passage, quoted exactly")


async def test_only_a_judge_gives_the_tick(chromium_page: Visits, extractive_site: Site, relay: Relay) -> None:
    passages = Passages(extractive_site)
    await passages.add("Judged", LAMP, LAMP, "Ships see it.", LAMP)
    exam = {"language": "en", "right": 19, "of": 20}
    events = passages.answered(None, by="judge", judge={"model": "sage", "exam": exam})
    for event in events:
        event["family"] = "llm"
    events[-1]["message"]["family"] = "llm"
    page = await chromium_page(relay.url, go=False)
    turn = await told(relay, page, events)
    await expect(turn.locator(".quoted-from")).to_have_count(0)
    await expect(turn.locator(".claim.supported")).to_have_text(LAMP)
    await expect(turn.get_by_role("button", name="Source 1, Judged: Supported")).to_be_visible()
    await expect(turn.locator(".worth.check")).to_have_text("1 statement confirmed by sage")


async def test_a_refusal_shows_what_came_nearest_in_the_same_form(
    chromium_page: Visits, extractive_site: Site, relay: Relay
) -> None:
    passages = await every_form(extractive_site)
    page = await chromium_page(relay.url, go=False, viewport={"width": 360, "height": 800})
    turn = await told(relay, page, passages.refused())
    nearest = turn.locator(".nearest > ul > li")
    await expect(nearest.nth(0).locator("tr", has=page.locator("mark"))).to_have_text(["Vừa25 €10"])
    await expect(nearest.nth(1).locator("li mark")).to_have_text(["Smoking on the balcony"])
    await expect(nearest.nth(2).locator("pre mark")).to_have_text(["export HOST=0.0.0.0"])
    await expect(nearest.nth(1).locator(".quoted-from")).to_contain_text("House rules › Balcony")
    assert "%" not in await turn.inner_text()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await accessible(page, "a refusal with passages")
    await nearest.nth(1).get_by_role("button", name=re.compile("House rules")).click()
    await expect(page.locator(".reader mark.best")).to_have_text(["Smoking on the balcony"])


def test_degrees_are_those_of_the_service() -> None:
    told = dict(re.findall(r'\["(\w+)", ([\d.]+)\]', (PAGE_FOLDER / "text" / "answerhood.js").read_text("utf-8")))
    assert {name: answerhood_of(float(least)) for name, least in told.items()} == {name: name for name in ANSWERHOODS}
    just_below = {name: answerhood_of(float(least) - 0.001) for name, least in told.items() if float(least)}
    assert just_below == {"answers": "may_answer", "may_answer": "nearest"}
