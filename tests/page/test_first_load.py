"""What opening the page costs, and where its parts come from."""

from tests.page.browsing import Transfer, Visits
from tests.page.sites import Site

MOST_BYTES = 150_000


async def test_the_first_load_is_small_and_from_our_own_server(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url, go=False)
    transfer = await Transfer.of(page)
    await page.goto(extractive_site.url, wait_until="networkidle")
    assert await page.title() == "Citewell"
    told = (
        f"{transfer.bytes} bytes in {len(transfer.urls)} requests; modules of views that open later can be loaded then"
    )
    assert 0 < transfer.bytes <= MOST_BYTES, told
    assert {url.startswith(f"{extractive_site.url}/") for url in transfer.urls} == {True}
    assert len(transfer.urls) == len(set(transfer.urls))
