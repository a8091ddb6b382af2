"""The page in each of its languages: nothing of the server's in English, no words of ours, and from right to left."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from api.problems import BY_CODE
from graph.evidence import Identity
from graph.reasons import IN_WORDS, REASONS
from tests.page.axe import accessible
from tests.page.browsing import NARROW, WIDE, Visits
from tests.page.english import LANGUAGES, WORDS, catalogue
from tests.page.sites import Site
from tools.library.ingestion import NewDocument

STYLES = Path(__file__).parents[2] / "api" / "page" / "style"
SAID_BY_COUNTS = {IN_WORDS, "assessed"}
# Codes of what failed that is no error of a request.
OF_RUNS = {"no_own_knowledge", "judge_failed", "no_thinking_model", "web_not_configured", "mcp_not_configured"}
ASK = {"vi": "Hỏi", "zh": "提问", "ar": "اسأل"}
AGAIN = re.compile("^(Answer again|Trả lời lại|重新回答|أجب مجددًا)$")
QUESTIONS = {
    "vi": ["Phiếu quà tặng có giá trị bao lâu?", "Ai đã vô địch cờ vua trên mặt trăng?", "Xin chào!"],
    "zh": ["礼品券的有效期是多久？", "谁在月球上赢得了国际象棋冠军？", "你好！"],
    "ar": ["ما مدة صلاحية قسيمة الهدية؟", "من فاز ببطولة الشطرنج على القمر؟"],
}
TEXTS = {
    "vi": "Phiếu quà tặng có giá trị mười hai tháng kể từ ngày mua.",
    "zh": "礼品券的有效期是自购买之日起十二个月。",
    "ar": "مدة صلاحية قسيمة الهدية اثنا عشر شهرًا من تاريخ الشراء.",
}
# How a run says that it searched, and what its graph calls the check.
STEPS = {
    "vi": ("Đã tìm trong thư viện", "kiểm chứng"),
    "zh": ("搜索了资料库", "核查"),
    "ar": ("بُحث في المكتبة", "التحقق"),
}
# Words in the alphabet of English that stand in no text of a document, and are no names or units.
ENGLISH = re.compile(
    r"\b(?:the|and|was|were|not|with|its|this|that|which|from|found|search\w*|answer\w*|question)\b", re.I
)
# What readers are told in other words: docs/page.md says in which.
OURS = re.compile(
    r"\bsegment|\bclaims?\b|min_score|useful|utility|extractive|retriev|\bchunk|\bfamily\b|\bexam(?:s|ined)?\b"
    r"|fallback|withdr[ae]w|repaired|\bingest|\bnodes?\b|abstain|tesseract|selected pages?|add pages"
    r"|hữu ích|trang đã chọn|thêm trang|dự phòng|有用程度|所选页面|添加页面|个页面|备用方案"
    r"|الصفحات المختارة|بدائل",
    re.IGNORECASE,
)
PLACE = re.compile(r"\{\w+(?:, \w+,)?")  # what a text is given stands in it under our own names
SHOWN = "() => document.querySelector('main').innerText"
# On which side the list of sessions and the button to ask stand, and which way the answer reads.
MIRRORED = """() => {
  const middle = innerWidth / 2;
  const side = (query) => {
    const box = document.querySelector(query).getBoundingClientRect();
    return (box.left + box.right) / 2 > middle ? "right" : "left";
  };
  return [side(".sessions"), side(".send"), getComputedStyle(document.querySelector(".answer")).direction];
}"""


@pytest.fixture(scope="module")
async def vouchers(extractive_site: Site) -> Site:
    for language, text in TEXTS.items():
        new = NewDocument(name=f"{language}.md", title=f"{language.upper()} 1", text=text)
        await extractive_site.citewell.library.ingestor.ingest(Identity(), new)
    return extractive_site


async def ask(page: Page, question: str, at: int) -> None:
    """Ask, wait for the answer, and unfold its run and account."""
    turn = await answered(page, question, at)
    await turn.locator(".run > summary").click()
    await expect(turn.locator(".steps > li").first).to_be_visible()
    await turn.locator(".account > summary").click()
    await expect(turn.locator(".account dl dt").first).to_be_visible()


async def answered(page: Page, question: str, at: int) -> Locator:
    await page.locator("#question").fill(question)
    await page.keyboard.press("Enter")
    turn = page.locator("article").nth(at)
    await expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false")
    await expect(turn.get_by_role("button", name=AGAIN)).to_be_visible()
    return turn


@pytest.mark.parametrize("language", ["vi", "zh", "ar"])
async def test_a_run_shows_no_english_of_the_server(chromium_page: Visits, vouchers: Site, language: str) -> None:
    page = await chromium_page(vouchers.url, locale=language)
    await expect(page.locator("html")).to_have_attribute("dir", "rtl" if language == "ar" else "ltr")
    await expect(page.get_by_role("button", name=ASK[language], exact=True)).to_be_visible()
    for at, question in enumerate(QUESTIONS[language]):
        await ask(page, question, at)
    searched, checked = STEPS[language]
    run = page.locator("article").first.locator("details.run")
    await expect(run.locator('.step[data-step="search_segments"]')).to_contain_text(searched)
    await expect(run.locator('.step[data-step="check_claims"]')).to_contain_text(checked)
    shown = await page.evaluate(SHOWN)
    for document in ("Staff handbook", "Travel policy", *QUESTIONS[language]):
        shown = shown.replace(document, "")
    quotes = await page.locator("main :is(blockquote, q, .place)").all_inner_texts()
    for quote in sorted(quotes, key=len, reverse=True):
        shown = shown.replace(quote, "")
    assert ENGLISH.findall(shown) == [], shown
    assert OURS.findall(shown) == []


async def test_a_run_in_english_has_no_words_of_ours(chromium_page: Visits, vouchers: Site) -> None:
    page = await chromium_page(vouchers.url)
    questions = ("How many days of annual leave are there?", "Who won the chess championship on the moon?", "Hello!")
    for at, question in enumerate(questions):
        await ask(page, question, at)
    shown = await page.evaluate(SHOWN)
    assert OURS.findall(shown) == []
    assert "%" not in re.sub(r"\(\d+%\)", "", shown), "but for how likely it is that an answer answers"


async def test_from_right_to_left_all_is_mirrored_but_an_answer_in_english(
    chromium_page: Visits, vouchers: Site
) -> None:
    page = await chromium_page(vouchers.url, locale="ar")
    await ask(page, QUESTIONS["ar"][0], 0)
    assert await page.evaluate(MIRRORED) == ["right", "left", "rtl"]
    await accessible(page, "an answer in Arabic")

    await page.set_viewport_size(NARROW)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.set_viewport_size(WIDE)
    await page.locator(".marker").first.click()
    passage = page.locator(".reader mark").first
    await expect(passage).to_be_visible()
    assert await passage.evaluate("mark => getComputedStyle(mark).direction") == "rtl"

    english = await answered(page, "Which class is booked for trains?", 1)
    section = english.locator(".section .text p").first
    await expect(section).to_contain_text("Second class is booked for trains.")
    assert await section.evaluate("text => getComputedStyle(text).direction") == "ltr"
    begins = """(name) => {
      const words = document.createRange();
      words.selectNodeContents(name);
      const [text, box] = [words, name].map((each) => each.getBoundingClientRect());
      return [getComputedStyle(name).direction, Math.abs(text.right - box.right) < 16]; // a space may hang over
    }"""
    aligned = [await name.evaluate(begins) for name in (english.locator(".question"), page.locator(".reader .title"))]
    assert aligned == [["ltr", True], ["ltr", True]]


def test_styles_know_no_left_and_no_right() -> None:
    sided = re.compile(
        r"(?<![-\w])(?:(?:margin|padding|border)-(?:left|right)|left|right)\s*:"
        r"|text-align:\s*(?:left|right)|float:\s*(?:left|right)"
    )
    found = {path.name: sided.findall(path.read_text()) for path in sorted(STYLES.glob("*.css"))}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_has_words(language: str) -> None:
    said = catalogue(language)
    assert set(said["reasons"]) == set(REASONS) - SAID_BY_COUNTS
    errors = set(said["problems"])
    # English says of an error what the server does, where that is written for readers.
    assert errors <= set(BY_CODE) | OF_RUNS if language == "en" else errors == set(BY_CODE) | OF_RUNS
    assert set(said["suggestions"]) <= errors


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_catalogue_has_words_of_ours(language: str) -> None:
    catalogues = sorted(WORDS.rglob(f"{language}.json"))
    assert len(catalogues) == 2, "the page's and that of the window in other people's pages"
    texts = [text for path in catalogues for text in texts_of(json.loads(path.read_text("utf-8")))]
    messages = [PLACE.sub("", text) for text in texts]
    assert [text for text in messages if OURS.search(text)] == []


def texts_of(part: dict[str, Any] | str) -> list[str]:
    return [part] if isinstance(part, str) else [text for value in part.values() for text in texts_of(value)]
