"""The tests' own ground: a page that does what it must not fails its test."""

from collections.abc import AsyncIterator, Mapping

import pytest
from playwright.async_api import Browser
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.routes.page_routes import DOCUMENT_HEADERS
from tests.api.serving import served
from tests.page.browsing import Visits

GOOD = '<!doctype html><link rel="icon" href="icon.svg"><title>Page</title><script src="good.js"></script>'
BODIES = {
    "/icon.svg": ("image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"/>'),
    "/good": ("text/html", GOOD),
    "/good.js": ("text/javascript", "document.title = 'Opened';"),
    "/throws": ("text/html", f'{GOOD}<script src="throws.js"></script>'),
    "/throws.js": ("text/javascript", "throw new Error('thrown');"),
    "/rejects": ("text/html", f'{GOOD}<script src="rejects.js"></script>'),
    "/rejects.js": ("text/javascript", "Promise.reject(new Error('rejected'));"),
    "/complains": ("text/html", f'{GOOD}<script src="complains.js"></script>'),
    "/complains.js": ("text/javascript", "console.error('complaint');"),
    "/inline": ("text/html", f"{GOOD}<script>document.title = 'Inline';</script>"),
    "/markup": ("text/html", f'{GOOD}<script src="markup.js"></script>'),
    "/markup.js": ("text/javascript", "try { document.head.innerHTML = '<b>b</b>'; } catch {}"),
    "/elsewhere": ("text/html", f'{GOOD}<img alt="" src="http://localhost:9/pixel.svg">'),
    "/missing": ("text/html", f'{GOOD}<img alt="" src="missing.svg">'),
    "/asks": ("text/html", f'{GOOD}<script src="asks.js"></script>'),
    "/asks.js": ("text/javascript", "alert('asked');"),
}


async def give(request: Request) -> Response:
    if request.url.path not in BODIES:
        return Response("no", 404)
    media_type, body = BODIES[request.url.path]
    return Response(body, headers=dict(DOCUMENT_HEADERS), media_type=media_type)


@pytest.fixture(scope="module")
async def bad_site() -> AsyncIterator[str]:
    async with served(Starlette(routes=[Route("/{path:path}", give)])) as url:
        yield url


FAULTS: Mapping[str, str] = {
    "throws": "uncaught: thrown",
    "rejects": "uncaught: rejected",
    "complains": "console error: complaint",
    "inline": "violation of script-src-elem: inline",
    "markup": "violation of require-trusted-types-for: trusted-types-sink",
    "elsewhere": "a request to elsewhere: GET http://localhost:9/pixel.svg",
    "missing": "console error: Failed to load resource: .* 404",
    "asks": "a dialog of the browser: alert asked",
}


async def test_a_page_without_a_fault_passes(bad_site: str, chromium_page: Visits) -> None:
    page = await chromium_page(f"{bad_site}/good")
    assert await page.title() == "Opened"


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_fails_unless_it_is_expected(bad_site: str, browser: Browser, name: str) -> None:
    visits = Visits(browser)
    page = await visits(f"{bad_site}/{name}")
    assert await page.title() == "Opened"
    with pytest.raises(pytest.fail.Exception, match=FAULTS[name]):
        await visits.end()
    visits.of(page).expect_fault(".")
    assert visits.of(page).unexpected() == []
