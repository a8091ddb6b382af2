"""The search endpoint: what it is asked, what is read of its reply, and when it is asked again."""

import json
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graph.errors import WebUnavailable
from tests.scripted_web import KEY, Reply, ScriptedWeb, found, result, serve_web
from tools.settings import WebSettings
from tools.web.serper import LONGEST_QUERY, MOST_RETRIES, Serper, WebResult

NOW = {"retry-after": "0"}


@pytest.fixture
async def web() -> AsyncIterator[ScriptedWeb]:
    async with serve_web() as script:
        yield script


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(verify=False) as opened:
        yield opened


@pytest.fixture
def serper(web: ScriptedWeb, client: httpx2.AsyncClient) -> Serper:
    return Serper(web.settings, client, backoff=0.0)


async def refused(serper: Serper) -> str:
    with pytest.raises(WebUnavailable) as caught:
        await serper.search("lamps", results=5)
    return caught.value.message


async def test_a_search_is_asked_for_with_the_key_in_its_header(web: ScriptedWeb, serper: Serper) -> None:
    web.searches = [found(result("https://lamp.test/a", "It turns.", "Lamps", date="2 days ago"))]
    assert await serper.search("how  often does\nthe lamp turn", results=5) == [
        WebResult("Lamps", "https://lamp.test/a", "It turns.", "2 days ago")
    ]
    [asked] = web.asked
    assert (asked.method, asked.path) == ("POST", "/search")
    assert asked.headers["x-api-key"] == KEY
    assert KEY not in asked.body.decode()
    assert asked.json == {"q": "how often does the lamp turn", "num": 5, "hl": "en"}


@pytest.mark.parametrize(
    ("query", "locale"),
    [
        ("What is the capital of France?", {"hl": "en"}),
        ("Thủ đô của nước Pháp là gì?", {"hl": "vi", "gl": "vn"}),
        ("法国的首都是哪里？", {"hl": "zh-cn"}),
        ("フランスの首都はどこですか", {}),
    ],
)
async def test_results_are_asked_for_in_the_language_of_the_query(
    web: ScriptedWeb, serper: Serper, query: str, locale: dict[str, str]
) -> None:
    await serper.search(query, results=3)
    assert {name: value for name, value in web.asked[0].json.items() if name in ("hl", "gl")} == locale


async def test_a_long_query_is_cut_at_a_word(web: ScriptedWeb, serper: Serper) -> None:
    await serper.search("lamp " * 1000, results=3)
    asked = web.asked[0].json["q"]
    assert len(asked) <= LONGEST_QUERY
    assert set(asked.split(" ")) == {"lamp"}


async def test_what_is_no_page_or_says_nothing_is_left_out(web: ScriptedWeb, serper: Serper) -> None:
    good = result("https://lamp.test/a#top", "It turns.")
    web.searches = [
        found(
            None,
            "https://lamp.test/",
            {},
            {"title": "No link", "snippet": "x"},
            result("javascript:alert(1)", "x"),
            result("ftp://lamp.test/", "x"),
            result("https://user:word@lamp.test/", "x"),
            result(f"https://lamp.test/{'a' * 3000}", "x"),
            {"title": 7, "link": "https://lamp.test/n", "snippet": None},
            good,
            result("https://lamp.test/a", "Again."),
            {"title": "Only\u0000 a  title", "link": "https://lamp.test/b"},
            result("https://lamp.test/c", "\ud83d cut off"),
        )
    ]
    assert await serper.search("lamps", results=20) == [
        WebResult("A page", "https://lamp.test/a", "It turns."),
        WebResult("Only a title", "https://lamp.test/b", "Only a title"),
        WebResult("A page", "https://lamp.test/c", "\ufffd cut off"),
    ]


async def test_no_more_than_asked_for_are_given(web: ScriptedWeb, serper: Serper) -> None:
    web.searches = [found(*(result(f"https://lamp.test/{n}", "x") for n in range(9)))]
    assert [each.url for each in await serper.search("lamps", results=2)] == [
        "https://lamp.test/0",
        "https://lamp.test/1",
    ]
    web.searches = [found()]
    assert await serper.search("lamps", results=2) == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"{}", b'{"organic": {}}', b"<html>", b"[" * 100_000, b"\xff"]
)
async def test_a_reply_that_cannot_be_read_is_a_failure(web: ScriptedWeb, serper: Serper, body: bytes) -> None:
    web.searches = [Reply(body, headers={})]
    assert "cannot be read" in await refused(serper)
    assert len(web.asked) == 1


async def test_a_reply_beyond_all_measure_is_a_failure(web: ScriptedWeb, serper: Serper) -> None:
    web.searches = [Reply(b" " * 2_000_001, headers={})]
    assert "too large" in await refused(serper)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
async def test_a_busy_endpoint_is_asked_again(web: ScriptedWeb, serper: Serper, status: int) -> None:
    web.searches = [Reply(status=status, headers=NOW), Reply(status=status, headers={}), found()]
    assert await serper.search("lamps", results=5) == []
    web.searches, web.asked = [Reply(status=status, headers=NOW)], []
    assert f" {status}." in await refused(serper)
    assert len(web.asked) == MOST_RETRIES + 1


async def test_a_date_to_ask_again_at_is_heeded(web: ScriptedWeb, client: httpx2.AsyncClient) -> None:
    past = format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)
    web.searches = [Reply(status=503, headers={"retry-after": past}), found()]
    assert await Serper(web.settings, client, backoff=3600.0).search("lamps", results=5) == []
    web.searches = [Reply(status=503, headers={"retry-after": "3600"})]
    assert "within 0.2 seconds" in await refused(Serper(web.settings, client, seconds=0.2, backoff=0.0))


@pytest.mark.parametrize("status", [301, 302, 400, 401, 403, 404])
async def test_a_refusal_is_final(web: ScriptedWeb, serper: Serper, status: int) -> None:
    body = json.dumps({"message": f"Not enough\ncredits for {KEY}"}).encode()
    web.searches = [Reply(body, status=status, headers={"location": "/elsewhere"})]
    said = await refused(serper)
    assert str(status) in said
    assert KEY not in said
    assert len(web.asked) == 1
    if status == 400:
        assert "400: Not enough credits for." in said


async def test_an_endpoint_that_never_answers_is_given_up(web: ScriptedWeb, client: httpx2.AsyncClient) -> None:
    web.searches = [Reply(length=10, held=True)]
    assert "within 0.2 seconds" in await refused(Serper(web.settings, client, seconds=0.2))


async def test_an_endpoint_that_is_not_there_is_a_failure(client: httpx2.AsyncClient) -> None:
    settings = WebSettings.model_validate({"api_key": KEY, "base_url": "http://127.0.0.1:9"})
    assert "cannot be reached" in await refused(Serper(settings, client, backoff=0.0))


async def test_the_key_is_never_logged(web: ScriptedWeb, serper: Serper, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    web.searches = [Reply(status=500, headers=NOW), Reply(status=401, headers={})]
    await refused(serper)
    assert KEY not in caplog.text
    assert KEY not in repr(web.settings)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["organic", "title", "link", "snippet", "date", "x"]), inner)
        ),
    )
)
async def test_whatever_comes_is_read_or_refused(reply: object) -> None:
    body = json.dumps(reply).encode()
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=httpx2.ByteStream(body)))
    settings = WebSettings.model_validate({"api_key": KEY})
    async with httpx2.AsyncClient(transport=transport) as client:
        try:
            results = await Serper(settings, client).search("lamps", results=5)
        except WebUnavailable:
            return
    assert all(each.url.startswith("http") and each.snippet for each in results)


def test_settings_hold_what_can_be_sent() -> None:
    assert WebSettings.model_validate({"api_key": " key\n"}).api_key.get_secret_value() == "key"
    assert WebSettings.model_validate({"base_url": "http://localhost:1/x/"}).base_url == "http://localhost:1/x"
    for wrong in (
        {"api_key": "k\u00e9y"},
        {"api_key": "a\nb"},
        {"base_url": "serper.dev"},
    ):
        with pytest.raises(ValidationError):
            WebSettings.model_validate(wrong)


async def test_the_answer_box_and_the_panel_are_results_too(web: ScriptedWeb, serper: Serper) -> None:
    box = {"title": "Lamp", "link": "https://lamp.test/box", "answer": "Twelve seconds", "snippet": "The lamp turns."}
    panel = {
        "title": "Lighthouse",
        "descriptionLink": "https://lamp.test/panel",
        "description": "A tower with a lamp.",
        "attributes": {"Built": "1889", "Height": 40},
    }
    reply = {"answerBox": box, "knowledgeGraph": panel, "organic": [{"title": "A", "link": "https://lamp.test/a"}]}
    web.searches = [Reply(body=json.dumps(reply).encode())]
    assert await serper.search("lamps", results=5) == [
        WebResult("Lamp", "https://lamp.test/box", "Twelve seconds. The lamp turns."),
        WebResult("Lighthouse", "https://lamp.test/panel", "A tower with a lamp. Built: 1889."),
        WebResult("A", "https://lamp.test/a", "A"),
    ]


@pytest.mark.parametrize(
    "extra", [None, "text", [], {}, {"answer": "no address"}, {"link": "https://lamp.test/b"}, {"link": 7}]
)
async def test_a_box_that_is_no_result_is_left_out(web: ScriptedWeb, serper: Serper, extra: object) -> None:
    reply = {"answerBox": extra, "knowledgeGraph": extra, "organic": []}
    web.searches = [Reply(body=json.dumps(reply).encode())]
    assert await serper.search("lamps", results=5) == []
