"""Pages fetched from a loopback server that is a web; the guard's tests tell what may be reached at all."""

import asyncio
import gzip
import os
import zlib
from collections.abc import AsyncIterator, Sequence

import httpx2
import pytest

from graph.errors import WebUnavailable
from tests.scripted_web import Reply, ScriptedWeb, page, redirect, serve_web
from tools.parsers import parse
from tools.web.fetching import MOST_REDIRECTS, FetchedPage, PageFetcher
from tools.web.guard import Guard

MOST = 20_000
SECONDS = 20.0  # nothing here takes so long


@pytest.fixture
async def web() -> AsyncIterator[ScriptedWeb]:
    async with serve_web() as script:
        yield script


@pytest.fixture
async def transport() -> AsyncIterator[httpx2.AsyncHTTPTransport]:
    async with httpx2.AsyncHTTPTransport(verify=False) as opened:
        yield opened


@pytest.fixture
def fetcher(web: ScriptedWeb, transport: httpx2.AsyncHTTPTransport) -> PageFetcher:
    return PageFetcher(web.guard, transport, max_bytes=MOST, seconds=SECONDS)


async def refused(fetcher: PageFetcher, url: str) -> str:
    """Fetch what can't be fetched, and give the reason."""
    with pytest.raises(WebUnavailable) as caught:
        await fetcher.fetch(url)
    return caught.value.message


async def test_a_page_comes_as_it_is_with_nothing_of_ours_but_a_name(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    url = web.serve("lamp.test/a?b=c", page("The lamp turns."))
    fetched = await fetcher.fetch(f"{url}#part")
    assert (fetched.media_type, fetched.url) == ("text/html", f"{url}#part")
    assert parse(fetched.data, name="", media_type=fetched.media_type).text == "The lamp turns."
    [asked] = web.asked
    assert (asked.method, asked.host, asked.path) == ("GET", f"lamp.test:{web.port}", "/a?b=c")
    assert sorted(asked.headers) == ["accept", "accept-encoding", "connection", "host", "user-agent"]
    assert asked.headers["accept-encoding"] == "gzip"
    assert asked.headers["user-agent"] == "Citewell"


async def test_no_cookie_comes_back(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    to = web.serve("lamp.test/to", page("There."))
    first = redirect(to)
    first.headers["set-cookie"] = "who=you; Path=/"
    await fetcher.fetch(web.serve("lamp.test/from", first))
    await fetcher.fetch(to)
    assert all("cookie" not in asked.headers for asked in web.asked)


async def test_no_proxy_of_the_environment_is_used(web: ScriptedWeb) -> None:
    os.environ.update(dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9"))
    async with httpx2.AsyncHTTPTransport(verify=False) as transport:
        fetcher = PageFetcher(web.guard, transport, max_bytes=MOST, seconds=SECONDS)
        assert (await fetcher.fetch(web.serve("lamp.test/", page("Here.")))).data


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """A name that resolves to something else the second time (DNS rebinding) gains nothing: nobody asks again."""
    names: list[str] = []
    answers = [["93.184.215.14"], ["127.0.0.1"]]

    async def resolve(host: str, port: int) -> Sequence[str]:
        names.append(host)
        return answers.pop(0)

    sent: list[httpx2.Request] = []

    def serve(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200, headers={"content-type": "text/plain"}, stream=httpx2.ByteStream(b"fine"))

    fetcher = PageFetcher(Guard(resolve=resolve), httpx2.MockTransport(serve), max_bytes=MOST, seconds=SECONDS)
    assert (await fetcher.fetch("https://rebinding.example:443/x")).data == b"fine"
    assert names == ["rebinding.example"]
    assert sent[0].url.host == "93.184.215.14"
    assert sent[0].headers["host"].startswith("rebinding.example")
    assert sent[0].extensions["sni_hostname"] == "rebinding.example"
    assert "not a public" in await refused(fetcher, "https://rebinding.example/y")
    assert len(sent) == 1


async def test_another_address_of_a_host_is_tried_where_one_cannot_be_connected_to(
    web: ScriptedWeb, transport: httpx2.AsyncHTTPTransport
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.99", "127.0.0.1"] if host == "two.test" else ["127.0.0.99"]

    guard = Guard(resolve=resolve, is_allowed=lambda address: True, ports=frozenset({web.port}))
    fetcher = PageFetcher(guard, transport, max_bytes=MOST, seconds=SECONDS)
    assert (await fetcher.fetch(web.serve("two.test/", page("Here.")))).data
    assert "connected to" in await refused(fetcher, web.url("one.test/"))


async def test_redirects_are_followed_to_their_end(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    end = web.serve("there.test/end", page("The end."))
    for status in (301, 302, 303, 307, 308):
        assert (await fetcher.fetch(web.serve("lamp.test/start", redirect(end, status)))).url == end
    assert (await fetcher.fetch(web.serve("there.test/x/start", redirect("../end")))).url == end
    assert (await fetcher.fetch(web.serve("lamp.test/start", redirect(f"//there.test:{web.port}/end")))).url == end


async def test_redirects_come_to_an_end(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    web.serve("chain.test/0", page("The end."))
    for hop in range(1, MOST_REDIRECTS + 2):
        web.serve(f"chain.test/{hop}", redirect(f"/{hop - 1}"))
    assert (await fetcher.fetch(web.url(f"chain.test/{MOST_REDIRECTS}"))).data
    assert await refused(fetcher, web.url(f"chain.test/{MOST_REDIRECTS + 1}")) == "it redirects too often"
    web.asked.clear()
    assert await refused(fetcher, web.serve("loop.test/", redirect("/"))) == "it redirects too often"
    assert len(web.asked) == MOST_REDIRECTS + 1


@pytest.mark.parametrize(
    ("to", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/", "port|not a public"),
        ("http://10.0.0.1:{port}/", "not a public"),
        ("http://[::1]:{port}/", "not a public"),
        ("http://[::ffff:10.0.0.1]:{port}/", "not a public"),
        ("http://2130706433:{port}/", "not a domain name"),
        ("http://localhost:{port}/", "not a domain name"),
        ("http://there.test:22/", "port 22"),
        ("http://user:word@there.test:{port}/", "names a user"),
        ("file:///etc/passwd", "neither http nor https"),
        ("gopher://there.test:{port}/_x", "neither http nor https"),
        ("", "it redirects too often"),
        ("http://[:{port}/", "not a domain name|nowhere"),
    ],
)
async def test_each_redirect_passes_the_guard(web: ScriptedWeb, fetcher: PageFetcher, to: str, reason: str) -> None:
    url = web.serve("lamp.test/", redirect(to.format(port=web.port)))
    said = await refused(fetcher, url)
    assert any(part in said for part in reason.split("|"))
    assert all(asked.host == f"lamp.test:{web.port}" for asked in web.asked)


async def test_a_redirect_without_a_place_is_refused(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    assert await refused(fetcher, web.serve("lamp.test/", Reply(status=302))) == "it redirects nowhere"


async def test_a_redirect_from_https_to_http_is_refused() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["93.184.215.14"]

    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(301, headers={"location": "http://plain.example/"})
    )
    fetcher = PageFetcher(Guard(resolve=resolve), transport, max_bytes=MOST, seconds=SECONDS)
    assert "from https to http" in await refused(fetcher, "https://safe.example/")


@pytest.mark.parametrize("status", [201, 204, 206, 300, 304, 400, 401, 403, 404, 429, 500, 503])
async def test_only_a_plain_success_is_a_page(web: ScriptedWeb, fetcher: PageFetcher, status: int) -> None:
    body = b"" if status in (204, 304) else b"<p>Words.</p>"
    assert await refused(fetcher, web.serve("lamp.test/", Reply(body, status))) == f"it answers with {status}"


@pytest.mark.parametrize(
    "media_type",
    ["image/png", "application/pdf", "application/json", "text/css", "application/octet-stream", "", "html"],
)
async def test_only_pages_of_text_are_read(web: ScriptedWeb, fetcher: PageFetcher, media_type: str) -> None:
    url = web.serve("lamp.test/", Reply(b"<p>Words.</p>", headers={"content-type": media_type}))
    assert "not a text" in await refused(fetcher, url)
    url = web.serve("lamp.test/", Reply(b"<p>Words.</p>", headers={}))
    assert "not a text" in await refused(fetcher, url)


@pytest.mark.parametrize(
    "media_type", ["text/html", "TEXT/HTML; Charset=UTF-8", "application/xhtml+xml", "text/markdown"]
)
async def test_pages_of_text_are_read(web: ScriptedWeb, fetcher: PageFetcher, media_type: str) -> None:
    url = web.serve("lamp.test/", Reply(b"<p>Words.</p>", headers={"content-type": media_type}))
    assert (await fetcher.fetch(url)).media_type == media_type.split(";")[0].lower()


def packed(data: bytes, packing: str = "gzip", **reply: int) -> Reply:
    return Reply(data, headers={"content-type": "text/plain", "content-encoding": packing}, **reply)


async def test_a_page_may_be_as_large_as_the_cap_and_no_larger(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    plain = {"content-type": "text/plain"}
    assert len((await fetcher.fetch(web.serve("a.test/", Reply(b"x" * MOST, headers=plain)))).data) == MOST
    assert await refused(fetcher, web.serve("a.test/", Reply(b"x" * (MOST + 1), headers=plain))) == "it is too large"
    # A reply that says how long it is isn't read at all; this one never sends it.
    long = Reply(b"x", headers=plain, length=10**12, held=True)
    assert await refused(fetcher, web.serve("a.test/", long)) == "it is too large"
    for length in (str(10**30), "9" * 400):
        assert await refused(fetcher, web.serve("a.test/", Reply(b"x", headers=plain | {"content-length": length})))
    endless = Reply(b"%x\r\n%b\r\n" % (MOST + 1, b"x" * (MOST + 1)), held=True)
    endless.headers = plain | {"transfer-encoding": "chunked"}
    assert await refused(fetcher, web.serve("a.test/", endless)) == "it is too large"


async def test_a_packed_page_is_counted_as_it_is_unpacked(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    assert (await fetcher.fetch(web.serve("a.test/", packed(gzip.compress(b"Words."))))).data == b"Words."
    assert len((await fetcher.fetch(web.serve("a.test/", packed(gzip.compress(b"x" * MOST))))).data) == MOST
    bomb = gzip.compress(bytes(15_000_000))
    assert len(bomb) < MOST
    assert await refused(fetcher, web.serve("a.test/", packed(bomb))) == "it is too large"
    twice = packed(gzip.compress(gzip.compress(b"Words.")), "gzip, gzip")
    assert "encoding" in await refused(fetcher, web.serve("a.test/", twice))


@pytest.mark.parametrize("packing", ["deflate", "br", "zstd", "compress", "x"])
async def test_other_packings_were_not_asked_for(web: ScriptedWeb, fetcher: PageFetcher, packing: str) -> None:
    reply = packed(zlib.compress(b"Words."), packing)
    assert "encoding" in await refused(fetcher, web.serve("a.test/", reply))


async def test_a_broken_packing_is_refused(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    whole = gzip.compress(b"Words. " * 200)
    for broken in (b"not gzip at all", whole[: len(whole) // 2], whole[:-9]):
        assert "corrupt" in await refused(fetcher, web.serve("a.test/", packed(broken)))


async def test_a_page_that_breaks_off_is_no_page(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    cut = Reply(b"Half of", headers={"content-type": "text/plain"}, length=100)
    assert await refused(fetcher, web.serve("a.test/", cut)) == "the connection broke"


async def test_a_page_that_never_ends_is_given_up(web: ScriptedWeb, transport: httpx2.AsyncHTTPTransport) -> None:
    fetcher = PageFetcher(web.guard, transport, max_bytes=MOST, seconds=0.2)
    held = Reply(b"Half of", headers={"content-type": "text/plain"}, length=100, held=True)
    assert await refused(fetcher, web.serve("a.test/", held)) == "it took too long"


async def test_less_time_than_the_cap_may_be_given(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    url = web.serve("a.test/", Reply(b"", headers={"content-type": "text/plain"}, length=9, held=True))
    with pytest.raises(WebUnavailable, match="too long"):
        await fetcher.fetch(url, seconds=0.1)
    with pytest.raises(WebUnavailable, match="too long"):
        await fetcher.fetch(url, seconds=-1.0)


async def test_a_name_that_never_resolves_is_given_up(transport: httpx2.AsyncHTTPTransport) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    fetcher = PageFetcher(Guard(resolve=resolve), transport, max_bytes=MOST, seconds=0.1)
    assert await refused(fetcher, "http://slow.example/") == "it took too long"


async def test_the_charset_of_the_header_holds(web: ScriptedWeb, fetcher: PageFetcher) -> None:
    def read(fetched: FetchedPage) -> str:
        return parse(fetched.data, name="", media_type=fetched.media_type).text

    said = '<html><head><meta charset="{}"></head><body><p>产品手册 café</p></body></html>'
    for declared, actual, header in (
        ("utf-8", "gbk", "text/html; charset=GBK"),
        ("gbk", "utf-8", 'text/html; charset="utf-8"'),
        ("gbk", "gbk", "text/html"),
        ("utf-8", "utf-8", "text/html; charset=punycode"),
        ("utf-8", "utf-8", "text/html; charset=no-such"),
        ("utf-8", "utf-8", "text/html; charset*;charset*0*=%;*boundarycharset*0*"),
        ("utf-8", "utf-8-sig", "text/html; charset=utf-8"),
    ):
        body = said.format(declared).encode(actual, errors="replace")
        text = read(await fetcher.fetch(web.serve("a.test/", Reply(body, headers={"content-type": header}))))
        assert text.startswith("产品手册"), header
