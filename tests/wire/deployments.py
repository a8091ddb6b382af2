"""Two deployments of one library, each for all tests of a module: one that quotes, one whose model says nothing."""

from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, with_model
from tests.api.serving import client_of
from tests.scripted_openai import ScriptedOpenAI, status
from tools.settings import Settings

LEAVE = "How many days of annual leave does an employee get?"
QUESTIONS = {
    "answered": LEAVE,
    "small_talk": "Hello!",
    "abstained": "Who won the chess championship of 1972?",
    "beyond_quotes": "Can you sum up the days of annual leave an employee gets?",
    "about_library": "How many documents do I have?",
}
REFUSALS = 20  # more than a module asks for


@pytest.fixture(scope="module")
def settings_of_module(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings over a database of the module's own. A title would come whenever it is there: none is made."""
    url, data_dir = SecretStr(shared_database_url), tmp_path_factory.mktemp("wire")
    return Settings(_env_file=None, database_url=url, data_dir=data_dir, pool_size=4, auto_title=False)


@pytest.fixture(scope="module")
async def client(settings_of_module: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment of the extractive family."""
    async with open_citewell(settings_of_module) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(settings_of_module, citewell=citewell)) as opened:
            yield opened


@pytest.fixture(scope="module")
async def failing_client(settings_of_module: Settings, client: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment of the same library whose model's endpoint refuses to write an answer."""
    with ScriptedOpenAI() as model:
        for _ in range(REFUSALS):
            model.script(status(401, "wrong key sk-1"), to="generate_answer")
        configured = with_model(settings_of_module, model)
        async with (
            open_citewell(configured) as citewell,
            client_of(create_app(configured, citewell=citewell)) as opened,
        ):
            yield opened
