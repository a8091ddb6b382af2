"""The description of the API as a page, and what each response says of itself, so that no page acts in our name."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from fastapi import FastAPI

from api.app import create_app
from graph.entrypoint import Citewell
from tests.api.serving import client_of
from tools.settings import AuthSettings, Settings

LOADS = {"src", "href", "action", "data", "srcset", "poster", "style"}
RUNS = {"script", "iframe", "frame", "object", "embed", "form", "base"}


class Found(HTMLParser):
    """The elements of a page, what they lead to, and where something of it can be led to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.targets: list[str] = []
        self.ids: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.targets += [value or "" for name, value in attrs if name in LOADS or name.startswith("on")]
        self.ids |= {value or "" for name, value in attrs if name == "id"}


@pytest.fixture
def keyed(settings: Settings, citewell: Citewell) -> FastAPI:
    return create_app(settings.model_copy(update={"auth": AuthSettings(mode="keys")}), citewell=citewell)


async def test_the_description_is_a_page_that_runs_and_loads_nothing(keyed: FastAPI) -> None:
    async with client_of(keyed) as client:
        reply = await client.get("/docs")
        described = (await client.get("/openapi.json")).json()
        again = await client.get("/docs", headers={"if-none-match": reply.headers["etag"]})
        gone = await client.get("/redoc")
    assert (reply.status_code, again.status_code, gone.status_code) == (200, 304, 401)
    page = Found(reply.text)
    assert not page.tags & RUNS
    leading = [target for target in page.targets if not target.startswith("data:image/svg+xml,")]
    assert {target for target in leading if not target.startswith("#")} == {"openapi.json"}
    assert {target.removeprefix("#") for target in leading if target.startswith("#")} <= page.ids
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    shown = set(re.findall(r"<code>([A-Z]+ /[^<]*)</code>", reply.text))
    operations = {f"{method.upper()} {path}" for path, methods in described["paths"].items() for method in methods}
    assert {unescape(each) for each in shown} == operations
    assert set(described["components"]["schemas"]) <= page.ids


async def test_no_response_is_taken_for_another_type_than_it_says(keyed: FastAPI) -> None:
    async with client_of(keyed) as client:
        for path in ("/", "/docs", "/openapi.json", "/healthz", "/api/documents", "/links/none", "/nowhere", "/login"):
            reply = await client.get(path)
            assert reply.headers["x-content-type-options"] == "nosniff", (path, reply.status_code)
