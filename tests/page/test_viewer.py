"""The document as it is: each format with its own look, and the quote of an address marked in it."""

import asyncio
import re
import zlib
from base64 import b64encode
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from graph.evidence import Identity
from tests.page.axe import accessible
from tests.page.browsing import NARROW, PATIENCE, WIDE, Visits
from tests.page.english import english
from tests.page.sites import Site
from tests.page.test_reader import answered, marked_is, read
from tests.unit.pictured_office import png, with_picture
from tests.unit.placed_pdf import Placed, column, placed_pdf
from tools.library.ingestion import NewDocument

DOCUMENTS = Path(__file__).parents[1] / "fixtures/documents"
PICTURE = png(40, 20)
QUOTE = "The kestrel of Hallgrim nests on the north tower."
LINES = (QUOTE, "It hunts at dusk.", "Its eggs are brown.")
A_PICTURE = "q 200 0 0 100 72 600 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x41\x42\x43\x44 EI Q"
# Four pages: words, other words, a picture alone, and the words that are quoted.
PDF = placed_pdf(
    [
        column(72, 700, ["The heron sleeps by day.", "The heron wakes by night."]),
        column(72, 700, ["The owl sleeps by day.", "The owl wakes by night."]),
        [Placed(72, 700, " ", drawing=A_PICTURE)],
        column(72, 400, LINES),
    ],
    title="Sleep",
)
MARKDOWN = f"""# Lamps

Red lamps burn **all** night.

## Care

1. Wipe them.
   - With care.
2. Wait.

![A lamp](data:image/png;base64,{b64encode(PICTURE).decode()})

| Lamp | Watts |
|---|---|
| Red | 40 |
| Green | 60 |

> Never leave a lamp alone.

```
lamp on
```
"""
HTML = """<html><head><title>House</title></head><body><main><h1>House rules</h1><p>Lamps are off at ten.</p>
<h2>Keys</h2><table><caption>Who has which</caption><tr><th>Door</th><th>Key</th></tr>
<tr><td>Front</td><td>A-17</td></tr></table></main></body></html>"""
CODE = """# How long a lamp burns.
HOURS = 10


class Lamp:
    def switch(self, on: bool) -> None:
        self.on = on
"""
MATHS = r"""<html><body><main><h1>Slits</h1><p>The slope is <math><mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mn>2</mn>
</mrow></mfrac></math> of the light.</p><p>It grows as <span class="math">\(10^{-4}\)</span> does.</p></main></body>
</html>"""
LANGUAGES = "".join(f'<li><a href="https://x{number}.example/">Language {number}</a></li>' for number in range(30))
BURN = "They burn all night. " * 30
WIKI = f"<html><body><div><h1>Lamp</h1><ul>{LANGUAGES}</ul><p>Lamps give light.</p><p>{BURN}</p></div></body></html>"
CSV = "Item,Count\n" + "".join(f"Lamp {number},{3 * number}\n" for number in range(2000))
FILES = {
    "sleep.pdf": PDF,
    "lamps.md": MARKDOWN.encode(),
    "house.html": HTML.encode(),
    "stock.csv": CSV.encode(),
    "lamps.py": CODE.encode(),
    "slits.html": MATHS.encode(),
    "wiki.html": WIKI.encode(),
    "handbook.docx": with_picture(DOCUMENTS / "handbook.docx", PICTURE),
    "talk.pptx": with_picture(DOCUMENTS / "talk.pptx", PICTURE),
    "workbook.xlsx": (DOCUMENTS / "workbook.xlsx").read_bytes(),
}


@pytest.fixture(scope="module")
async def library(extractive_site: Site) -> tuple[Site, dict[str, tuple[str, str]]]:
    """A deployment with a file of each format: their ids and texts, by name."""
    stored = {}
    for name, data in FILES.items():
        new = NewDocument(data=data, name=name)
        document_id = (await extractive_site.citewell.library.ingestor.ingest(Identity(), new)).document_id
        raw = (await extractive_site.client.get(f"/api/documents/{document_id}/raw-text")).json()
        stored[name] = document_id, "".join(segment["text"] for segment in raw["segments"])
    return extractive_site, stored


# Whether a canvas holds more than white.
HOLDS = """(canvas) => {
  if (!canvas.width) return false;
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  return data.some((each, at) => at % 4 < 3 && each > 0 && each < 255);
}"""
NEXT_FRAME = "() => new Promise((drawn) => requestAnimationFrame(drawn))"
Library = tuple[Site, dict[str, tuple[str, str]]]


def address(library: Library, name: str, quote: str) -> str:
    """Write the address of a quote, as Copy gives it."""
    site, stored = library
    document_id, text = stored[name]
    start = text.index(quote)
    check = f"{zlib.crc32(quote.encode()):x}"
    return f"{site.url}/#/documents/{document_id}?quote={start}-{start + len(quote)}&check={check}"


def current(page: Page) -> Locator:
    return page.locator(".reader mark.current")


async def marked(page: Page, *texts: str) -> None:
    """Wait until these texts are what is marked most, in sight."""
    await expect(current(page)).to_have_text(list(texts))
    await expect(current(page).first).to_be_in_viewport()


async def drawn(canvas: Locator) -> None:
    """Wait until a canvas holds something."""
    await expect(canvas).to_be_attached()
    async with asyncio.timeout(PATIENCE / 1000):
        while not await canvas.evaluate(HOLDS):
            await canvas.evaluate(NEXT_FRAME)


async def test_a_pdf_page_is_drawn_with_the_quote_marked_on_it(chromium_page: Visits, library: Library) -> None:
    page = await chromium_page(address(library, "sleep.pdf", QUOTE))
    await expect(current(page)).to_have_count(1)
    await expect(current(page)).to_be_in_viewport()
    await expect(current(page)).to_have_attribute("aria-label", f"Marked on the page: {QUOTE}")
    fourth = page.get_by_role("region", name="Page 4 of 4")
    await drawn(fourth.locator("canvas"))
    sheet, box = await fourth.locator(".sheet").bounding_box(), await current(page).bounding_box()
    assert sheet is not None
    assert box is not None
    points = sheet["width"] / 595
    assert abs((box["x"] - sheet["x"]) / points - 72) < 2
    assert 390 < 842 - (box["y"] + box["height"] - sheet["y"]) / points < 401
    assert 8 < box["height"] / points < 14
    assert 180 < box["width"] / points < 260
    await expect(fourth.locator(".textLayer")).to_contain_text(QUOTE)
    await expect(page.locator(".reader").get_by_text("4 pages", exact=True)).to_be_visible()
    await accessible(page, "a page of a PDF with a quote", [WIDE])

    await page.get_by_role("region", name="Page 3 of 4").scroll_into_view_if_needed()
    note = "This page is a picture: what it says could not be read, so no answer can quote it."
    await expect(page.get_by_role("region", name="Page 3 of 4").get_by_text(note)).to_be_visible()
    width = sheet["width"]
    await page.get_by_role("button", name="Larger").click()
    await expect(fourth.locator(".sheet")).not_to_have_js_property("clientWidth", round(width))

    await page.get_by_role("button", name="As text").click()
    await marked_is(page, {"start": library[1]["sleep.pdf"][1].index(QUOTE), "quote": QUOTE})
    await expect(page.locator(".reader").get_by_role("heading", level=3)).to_have_text(["Page 1", "Page 2", "Page 4"])
    await expect(page.locator(".reader .segment").first).to_contain_text("The heron sleeps by day.")
    await page.get_by_role("button", name="Document", exact=True).click()
    await expect(page.locator(".reader mark.box.current")).to_be_in_viewport()
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Download original").click()
    download = await downloading.value
    assert download.suggested_filename == "sleep.pdf"
    assert await asyncio.to_thread(Path(await download.path()).read_bytes) == PDF


async def test_pages_are_drawn_as_they_come_in_sight_and_few_stay_drawn(
    chromium_page: Visits, extractive_site: Site
) -> None:
    pages = [column(72, 700, [f"Page number {number} tells of lamps."]) for number in range(60)]
    new = NewDocument(data=placed_pdf(pages), name="long.pdf")
    document_id = (await extractive_site.citewell.library.ingestor.ingest(Identity(), new)).document_id
    page = await chromium_page(f"{extractive_site.url}/#/documents/{document_id}")
    await drawn(page.get_by_role("region", name="Page 1 of 60").locator("canvas"))
    assert await page.locator(".reader canvas").count() < 6
    for _ in range(20):
        await page.get_by_role("region", name="Text of the document").press("PageDown")
    await page.get_by_role("region", name="Text of the document").press("End")
    last = page.get_by_role("region", name="Page 60 of 60")
    await drawn(last.locator("canvas"))
    await expect(last.locator(".textLayer")).to_have_text("Page number 59 tells of lamps.")
    assert await page.locator(".reader canvas").count() <= 8


async def test_a_marker_leads_to_the_page_that_its_quote_is_on(chromium_page: Visits, model_site: Site) -> None:
    new = NewDocument(data=PDF, name="birds.pdf", title="Birds")
    document_id = (await model_site.citewell.library.ingestor.ingest(Identity(), new)).document_id
    site_address, [citation] = await answered(model_site, document_id)
    asked: list[str] = []
    page = await chromium_page(site_address, go=False)
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(site_address, wait_until="networkidle")
    assert not [url for url in asked if "vendor/pdf" in url or "/original" in url], "loaded when first wanted"
    await read(page)
    await expect(page.locator(".reader mark.box.current")).to_be_in_viewport()
    tab = page.locator(".reader").get_by_role("link", name="New tab")
    end = citation["end"]
    check = f"{zlib.crc32(QUOTE.encode()):x}"
    await expect(tab).to_have_attribute(
        "href", f"{model_site.url}/#/documents/{document_id}?quote={citation['start']}-{end}&check={check}"
    )
    async with page.context.expect_page() as opening:
        await tab.click()
    opened = await opening.value
    await expect(opened.locator(".reader mark.box.current")).to_be_in_viewport()
    await opened.get_by_role("button", name="Close the document").click()
    assert opened.url == f"{model_site.url}/"


async def test_text_has_its_headings_lists_tables_and_pictures(chromium_page: Visits, library: Library) -> None:
    page = await chromium_page(address(library, "lamps.md", "Green | 60"))
    reader = page.locator(".reader")
    await marked(page, "Green", "60")
    await expect(reader.get_by_role("cell", name="Green").locator("mark.current")).to_be_visible()
    await expect(reader.get_by_role("columnheader")).to_have_text(["Lamp", "Watts"])
    await expect(reader.get_by_role("heading", level=3)).to_have_text(["Lamps"])
    await expect(reader.get_by_role("heading", level=4)).to_have_text(["Care"])
    await expect(reader.get_by_role("listitem")).to_have_text(
        ["1. Wipe them.• With care.", "• With care.", "2. Wait."], use_inner_text=False
    )
    await expect(reader.get_by_role("blockquote")).to_have_text("Never leave a lamp alone.")
    await expect(reader.locator("pre code")).to_have_text("lamp on")
    await drawn(reader.get_by_role("img", name="A lamp"))
    await accessible(page, "a document with its headings, tables and pictures", [WIDE])

    await page.goto(address(library, "house.html", "A-17"))
    await marked(page, "A-17")
    await expect(reader.get_by_role("table", name="Who has which")).to_be_visible()
    await expect(reader.get_by_role("heading", level=4)).to_have_text(["Keys"])

    await page.goto(address(library, "handbook.docx", "the wick"))
    await marked(page, "the wick")
    await expect(reader.get_by_role("heading", name="Duties")).to_be_visible()
    await drawn(reader.get_by_role("img", name="Where lamps stand"))

    await page.goto(address(library, "talk.pptx", "Show the brass lamp."))
    await marked(page, "Show the brass lamp.")
    await expect(reader.get_by_role("heading", name="Slide 2")).to_be_visible()
    await drawn(reader.get_by_role("img", name="Where lamps stand"))
    await page.get_by_role("button", name="As text").click()
    await marked(page, "Show the brass lamp.")
    await expect(reader.locator(".segment")).not_to_have_count(0)


async def test_slides_are_drawn_and_the_links_around_a_page_are_folded(chromium_page: Visits, library: Library) -> None:
    page = await chromium_page(address(library, "talk.pptx", "a wick"))
    reader = page.locator(".reader")
    await marked(page, "a wick")
    slide = reader.locator(".slide").filter(has_text="Why lamps")
    frame, title, quote = [
        await each.bounding_box() for each in (slide, slide.get_by_role("heading"), current(page).first)
    ]
    assert frame is not None
    assert title is not None
    assert quote is not None
    assert frame["width"] / frame["height"] == pytest.approx(16 / 9, rel=0.02)
    assert title["y"] < frame["y"] + frame["height"] / 4 < quote["y"] < frame["y"] + frame["height"]
    assert await reader.get_by_text("Show the brass lamp.").evaluate("(each) => each.closest('.slide')") is None
    await accessible(page, "a slide", [WIDE])

    page_text = library[1]["wiki.html"][1]
    await page.goto(address(library, "wiki.html", "Lamps give light."))
    await marked(page, "Lamps give light.")
    await expect(reader.get_by_text("30 lines of links")).to_be_visible()
    await expect(reader.get_by_text("Language 7", exact=True)).to_be_hidden()
    assert "- Language 7" in page_text
    await page.goto(address(library, "wiki.html", "- Language 7"))
    await marked(page, "Language 7")  # a quote opens what it is in
    await accessible(page, "folded links", [WIDE])


async def test_code_has_its_lines_and_formulas_are_drawn(chromium_page: Visits, library: Library) -> None:
    page = await chromium_page(address(library, "lamps.py", "        self.on = on"))
    reader = page.locator(".reader")
    await marked(page, "        self.on = on")
    assert "".join(await reader.locator(".listing code").all_text_contents()) == library[1]["lamps.py"][1]
    numbers = "\n".join(await reader.locator(".listing .numbers").all_text_contents())
    assert numbers.split("\n") == [str(line) for line in range(1, 8)]
    family, wraps = await reader.locator(".listing code").last.evaluate(
        "(each) => [getComputedStyle(each).fontFamily, getComputedStyle(each).whiteSpace]"
    )
    assert "mono" in family
    assert wraps == "pre"
    await expect(reader.get_by_text("Python", exact=True)).to_be_visible()
    await accessible(page, "source code", [WIDE])

    await page.goto(address(library, "slits.html", library[1]["slits.html"][1].split("\n\n")[1]))
    await expect(current(page).locator("mfrac")).to_have_text("1a+2")
    await expect(reader.locator("math")).to_have_count(2)
    await expect(reader.locator("msup")).to_be_visible()
    await accessible(page, "formulas of a document", [WIDE])
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('.reader p:has(mfrac)'))")
    await reader.get_by_role("button", name="Ask about this passage").click()
    await expect(page.locator("form").get_by_text(library[1]["slits.html"][1].split("\n\n")[1])).to_be_visible()


async def test_a_workbook_is_a_grid_with_the_cell_marked(chromium_page: Visits, library: Library) -> None:
    site, stored = library
    _, text = stored["workbook.xlsx"]
    layout = (await site.client.get(f"/api/documents/{stored['workbook.xlsx'][0]}/layout")).json()
    sheets = [text[each["start"] : each["end"]] for each in layout["blocks"] if each["kind"] == "heading"]
    row = [each for each in layout["blocks"] if each["kind"] == "table_row"][-1]
    cells = text[row["start"] : row["end"]].split(" | ")
    last = next(cell for cell in reversed(cells) if cell and text.count(cell) == 1)
    page = await chromium_page(address(library, "workbook.xlsx", last))
    reader = page.locator(".reader")
    await marked(page, last)
    assert len(sheets) > 1
    await expect(reader.get_by_role("tab")).to_have_text(sheets)
    await expect(reader.get_by_role("tab", selected=True)).to_have_text(sheets[-1])
    cell = row["anchor"].rpartition("!")[2]
    number = cell.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    await expect(reader.locator(".letters").last).to_have_text(re.compile(cell.removesuffix(number)))
    named = reader.get_by_role("row").filter(has=page.locator("mark.current")).get_by_role("rowheader")
    await expect(named).to_have_text(number)
    await accessible(page, "a sheet", [WIDE])
    await reader.get_by_role("tab", selected=True).press("Home")
    await expect(reader.get_by_role("tab", selected=True)).to_have_text(sheets[0])
    await expect(current(page)).to_have_count(0)

    await page.goto(address(library, "stock.csv", "Lamp 1777 | 5331"))
    await marked(page, "Lamp 1777", "5331")
    await expect(reader.get_by_role("columnheader")).to_have_text(["Item", "Count"])
    assert await reader.get_by_role("row").count() < 1000, "rows are made as they come near"


async def test_an_address_whose_quote_has_changed_marks_nothing(chromium_page: Visits, library: Library) -> None:
    url = address(library, "lamps.md", "Green | 60").replace("check=", "check=1")
    page = await chromium_page(url)
    await expect(page.get_by_text(english("reader.standing.changed"))).to_be_visible()
    await expect(page.get_by_role("cell", name="Green")).to_be_visible()
    assert await page.locator(".reader mark").count() == 0
    document_id = library[1]["lamps.md"][0]
    await page.goto(f"{library[0].url}/documents/{document_id}#segment-0")
    await page.wait_for_url(f"{library[0].url}/#/documents/{document_id}?segment=0")
    await expect(page.locator(".reader mark.whole").first).to_be_visible()


async def test_what_cannot_be_shown_as_it_is_is_shown_as_text(chromium_page: Visits, library: Library) -> None:
    url = address(library, "sleep.pdf", QUOTE)
    page = await chromium_page(url, go=False, faults=["404", "Failed to load"])
    await page.route("**/original", lambda route: route.fulfill(status=404, json={"code": "not_found"}))
    await page.goto(url)
    await expect(page.get_by_text(english("viewer.failed"))).to_be_visible()
    await marked(page, QUOTE)
    await page.unroute("**/original")
    await page.route("**/original", lambda route: route.fulfill(status=206, body=b"no PDF at all"))
    await page.reload()
    await expect(page.get_by_text(english("viewer.failed"))).to_be_visible()
    await marked(page, QUOTE)


async def test_a_quote_that_the_server_cannot_place_is_found_in_the_text_of_the_page(
    chromium_page: Visits, library: Library
) -> None:
    url = address(library, "sleep.pdf", QUOTE)
    page = await chromium_page(url, go=False)
    await page.route("**/place?*", lambda route: route.fulfill(json={"boxes": []}))
    await page.goto(url)
    await expect(page.locator(".reader mark.box.current")).to_be_in_viewport()
    sheet = await page.get_by_role("region", name="Page 4 of 4").locator(".sheet").bounding_box()
    box = await page.locator(".reader mark.box.current").first.bounding_box()
    assert sheet is not None
    assert box is not None
    points = sheet["width"] / 595
    assert abs((box["x"] - sheet["x"]) / points - 72) < 4
    assert 385 < 842 - (box["y"] + box["height"] - sheet["y"]) / points < 405


async def test_a_telephone_shows_the_column_that_a_quote_is_in(chromium_page: Visits, extractive_site: Site) -> None:
    left, right = [
        [f"The {side} column, line {line}, tells of lamps." for line in range(30)] for side in ("one", "other")
    ]
    new = NewDocument(data=placed_pdf([column(60, 780, left) + column(320, 780, right)]), name="columns.pdf")
    document_id = (await extractive_site.citewell.library.ingestor.ingest(Identity(), new)).document_id
    raw = (await extractive_site.client.get(f"/api/documents/{document_id}/raw-text")).json()
    stored = {"columns.pdf": (document_id, "".join(segment["text"] for segment in raw["segments"]))}
    url = address((extractive_site, stored), "columns.pdf", right[20])
    page = await chromium_page(url, viewport=NARROW)
    sheet, text = page.locator(".reader .sheet").first, page.locator(".reader .drawn")
    await expect(page.locator(".reader mark.box.current")).to_be_in_viewport(ratio=1)
    await expect(page.get_by_role("button", name="Smaller")).to_be_enabled()
    await expect(page.locator(".reader mark.box.current")).to_be_in_viewport(ratio=1)
    assert await sheet.evaluate("(each) => each.clientWidth") > 1.5 * NARROW["width"]
    assert await text.evaluate("(each) => each.scrollLeft") > 100
    assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    for _ in range(4):
        smaller = page.get_by_role("button", name="Smaller")
        if await smaller.is_enabled():
            await smaller.click()
    assert await sheet.evaluate("(each) => each.clientWidth") < NARROW["width"]
    await page.set_viewport_size(WIDE)  # a page whose letters can be read stays whole
    await page.goto(f"{extractive_site.url}/")
    await page.goto(url)
    await expect(page.locator(".reader mark.box.current")).to_be_in_viewport()
    await expect(page.get_by_role("button", name="Smaller")).to_be_disabled()


async def test_a_telephone_shows_it_all_within_its_width(chromium_page: Visits, library: Library) -> None:
    row = library[1]["workbook.xlsx"][1].splitlines()[-1]
    page = await chromium_page(library[0].url, viewport=NARROW, color_scheme="dark")
    for name, quote in (("sleep.pdf", QUOTE), ("lamps.md", "Green | 60"), ("workbook.xlsx", row)):
        await page.goto(address(library, name, quote))
        about = (await library[0].client.get(f"/api/documents/{library[1][name][0]}")).json()
        await expect(page.locator(".reader").get_by_role("heading", level=2)).to_have_text(about["title"])
        await expect(current(page).first).to_be_in_viewport()
        assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
        await accessible(page, f"{name} on a telephone", [NARROW])
