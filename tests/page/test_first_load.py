"""What opening the page costs, and where its parts come from."""

from bench.browser import Wire
from tests.page.browsing import Visits
from tests.page.sites import Site

MOST_BYTES = 110_000
MOST_REQUESTS = 20  # the page's files and what it asks of the API


async def test_the_first_load_is_small_and_from_our_own_server(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url, go=False)
    wire = await Wire.of(page)
    await page.goto(extractive_site.url, wait_until="networkidle")
    assert await page.title() == "Citewell"
    told = f"{wire.bytes} bytes in {len(wire.urls)} requests; modules of views that open later can be loaded then"
    assert 0 < wire.bytes <= MOST_BYTES, told
    assert len(wire.urls) <= MOST_REQUESTS, told
    assert {url.startswith(f"{extractive_site.url}/") for url in wire.urls} == {True}
    assert len(wire.urls) == len(set(wire.urls))
