"""Where a request comes from, behind proxies: what X-Forwarded-For says counts from trusted ones alone."""

import httpx
import pytest
from pydantic import ValidationError

from api.app import create_app
from cli.http_server import server_config
from graph.entrypoint import Citewell
from tests.api.serving import served
from tests.api.test_scopes import KEYS, bearer
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.auth.identities import Limits
from tools.settings import HttpSettings, Settings


@pytest.mark.parametrize(
    ("trusted", "forwarded", "statuses"),
    [
        (["127.0.0.1"], ["198.51.100.1", "198.51.100.2"], [200, 200]),
        (["127.0.0.0/8", "10.0.0.0/8"], ["198.51.100.1, 10.0.0.9", "198.51.100.2, 10.0.0.9"], [200, 200]),
        (["127.0.0.0/8"], ["198.51.100.1, 203.0.113.7", "198.51.100.2, 203.0.113.7"], [200, 429]),  # a forged first hop
        (["10.0.0.5"], ["198.51.100.1", "198.51.100.2"], [200, 429]),  # the peer is no proxy of ours
    ],
)
async def test_a_limit_by_address_is_each_visitors_behind_a_trusted_proxy(
    settings: Settings, citewell: Citewell, trusted: list[str], forwarded: list[str], statuses: list[int]
) -> None:
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    key = await keys.create("default", "ann", terms=KeyTerms(limits=Limits(a_minute_by_address=1)))
    http = HttpSettings.model_validate({"trusted_proxies": trusted})
    configured = settings.model_copy(update={"auth": KEYS, "http": http})
    app = create_app(configured, citewell=citewell)
    async with (
        served(app, configured=server_config(app, configured)) as url,
        httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
    ):
        told = [
            (await client.get("/api/me", headers=bearer(key) | {"x-forwarded-for": each})).status_code
            for each in forwarded
        ]
    assert told == statuses


@pytest.mark.parametrize("trusted", [["0.0.0.0/0"], ["::/0"], ["proxy.example"]])
def test_a_proxy_is_named_by_its_address_and_not_everybody_is_one(trusted: list[str]) -> None:
    with pytest.raises(ValidationError, match=r"lets everybody say|does not appear to be"):
        HttpSettings.model_validate({"trusted_proxies": trusted})
