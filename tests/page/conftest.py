"""One browser for all tests of the page, a deployment for each module, and pages that a test opens in them."""

import logging
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from api.static_files import PAGE_FOLDER
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, with_model
from tests.conftest import settings_over
from tests.page.browsing import PATIENCE, Visits, launched
from tests.page.sites import MortalSite, Site, environment_of, site_of
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tools.settings import Settings

__all__ = ["scripted_openai"]

log = logging.getLogger(__name__)
FAILED = pytest.StashKey[bool]()
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    async with launched(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


def pytest_itemcollected(item: pytest.Item) -> None:
    """Open a test's pages after all else, so that they are closed before the servers that they ask."""
    if isinstance(item, pytest.Function):
        item.fixturenames.sort(key=lambda name: name == "chromium_page")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture
async def chromium_page(browser: Browser, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Visits]:
    """Open pages with ``await chromium_page(url, ...)``; whatever goes wrong in one fails the test.

    Of a test that fails, each page is kept as a picture.
    """
    visits = Visits(browser)
    yield visits
    if request.node.stash.get(FAILED, False):
        for path in await visits.keep(tmp_path):
            log.warning("The page as it was: %s", path)
    await visits.end()


@pytest.fixture(scope="module")
def module_settings(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of a deployment that all tests of a module visit: each keeps to sessions of its own."""
    return settings_over(shared_database_url, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
async def extractive_site(module_settings: Settings) -> AsyncIterator[Site]:
    """A deployment without a model, for a module."""
    async with site_of(module_settings) as site:
        yield site


@pytest.fixture
async def modules_site(module_settings: Settings) -> AsyncIterator[Site]:
    """A deployment that serves the page's own modules, so that a test can import one."""
    async with site_of(module_settings, page=PAGE_FOLDER) as site:
        yield site


@pytest.fixture(scope="module")
async def module_model_site(module_settings: Settings) -> AsyncIterator[Site]:
    with ScriptedOpenAI() as server:
        async with site_of(with_model(module_settings, server), server) as site:
            yield site


@pytest.fixture
def model_site(module_model_site: Site) -> Iterator[Site]:
    """A deployment whose model says what the test scripts, for a module; what a test leaves unsaid goes with it."""
    yield module_model_site
    module_model_site.server.unscript()


@pytest.fixture
async def mortal_site(settings: Settings, scripted_openai: ScriptedOpenAI, tmp_path: Path) -> AsyncIterator[MortalSite]:
    """A process with a model and the documents, started; the test kills it and starts it again."""
    async with open_citewell(settings) as opened:
        for document in LIBRARY:
            await opened.library.ingestor.ingest(Identity(), document)
    site = MortalSite(environment_of(settings, scripted_openai), tmp_path, scripted_openai)
    try:
        await site.start()
        yield site
    finally:
        await site.end()
