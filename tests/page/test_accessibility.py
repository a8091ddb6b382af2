"""Every view by axe-core, in light and dark, wide and narrow; and the whole main job with the keyboard alone."""

import asyncio
import json
from dataclasses import replace
from typing import Any

from playwright.async_api import Page, expect

from tests.api.conftest import HANDBOOK
from tests.page.axe import accessible
from tests.page.browsing import Visits
from tests.page.sites import Site
from tests.scripted_openai import Hold, Think, answer, say, status

LEAVE = "How many days of annual leave does every employee get a year?"
CITED = [f"{HANDBOOK}:0"]
SUPPORTED = "Every employee gets 25 days of annual leave a year."
UNVERIFIED = "Annual leave lapses in March for every employee in probation."
CONTRADICTED = "Unused leave lapses in May."
UNSUPPORTED = "The canteen serves soup on Fridays."
WRONG = "Every employee gets 30 days of annual leave a year."


def section(text: str) -> dict[str, Any]:
    return {"text": text, "source_ids": CITED}


def script_every_verdict(site: Site, hold: Hold) -> None:
    """Script an answer with a claim of each verdict, and a section that is repaired; held in the midst of its text."""
    kept = [f"{SUPPORTED} {CONTRADICTED}", f"{SUPPORTED} {UNSUPPORTED}"]  # in part, so that they are not withdrawn
    written = answer(*(section(text) for text in [WRONG, UNVERIFIED, *kept]), cut=20)
    steps = [Think("They ask about leave."), *written.steps[:6], hold, *written.steps[6:]]
    site.server.script(replace(written, steps=steps), to="generate_answer")
    revised = [{"section": number, **section(text)} for number, text in enumerate([SUPPORTED, *kept], 1)]
    site.server.script(say(json.dumps({"sections": revised})), to="revise_sections")
    site.server.script(*[status(500)] * 6, to="check_claims")


async def ask(page: Page, question: str) -> None:
    await page.get_by_role("textbox", name="Your question").fill(question)
    await page.keyboard.press("Enter")


async def test_an_answer_while_it_is_written_and_when_it_is_proven(chromium_page: Visits, model_site: Site) -> None:
    hold = Hold()
    script_every_verdict(model_site, hold)
    page = await chromium_page(model_site.url, reduced_motion="reduce")
    await expect(page.get_by_role("button", name="Staff handbook")).to_be_visible()
    await accessible(page, "before the first question")
    await ask(page, LEAVE)
    await asyncio.to_thread(hold.wait_reached)
    await expect(page.get_by_role("article").get_by_text("Every employee gets 30")).to_be_visible()
    await accessible(page, "while it is written")
    hold.release()
    await expect(page.get_by_role("article").locator(".sections").get_by_text(CONTRADICTED)).to_be_visible()
    await expect(page.get_by_role("button", name="Copy")).to_be_visible()
    await accessible(page, "proven")


async def test_the_library(chromium_page: Visits, model_site: Site) -> None:
    page = await chromium_page(model_site.url, reduced_motion="reduce", faults=["status of 4"])
    await page.get_by_role("button", name="Library").first.click()
    dialog = page.get_by_role("dialog", name="Library")
    await expect(dialog.get_by_text("Travel policy")).to_be_visible()
    await accessible(page, "the library")
    await page.locator("input[type=file]").first.set_input_files(
        [{"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"no pdf"}]
    )
    await expect(dialog.get_by_text("Refused", exact=True)).to_be_visible()
    await accessible(page, "the library, a file refused")
