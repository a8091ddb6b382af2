"""Pages, sitemaps and sites read from a loopback server that is a web: politeness, limits, addresses, failures."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.errors import WebUnavailable
from tests.reading_here import ReadHere
from tests.scripted_web import Reply, ScriptedWeb, page, redirect, serve_web
from tools.settings import Settings
from tools.web.addresses import canonical_address, document_id_of, folder_of, is_below
from tools.web.named_addresses import addresses_of
from tools.web.sites import (
    KnownPage,
    Listed,
    Pace,
    Site,
    Sitemap,
    Unchanged,
    Unread,
    Validators,
    WebFile,
    WebReader,
)

MOST = 200_000


@pytest.fixture
async def web() -> AsyncIterator[ScriptedWeb]:
    async with serve_web() as script:
        yield script


class Clock:
    """A clock that sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def reader(web: ScriptedWeb, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebReader]:
    monkeypatch.setattr("tools.web.sites.SECONDS_BETWEEN", 2.0)
    settings = Settings(_env_file=None, max_document_bytes=MOST)
    opened = WebReader(
        settings,
        ReadHere(),
        guard=web.guard,
        pace=Pace(sleep=clock.sleep, clock=clock),
        transport=httpx2.AsyncHTTPTransport(verify=False),
    )
    yield opened
    await opened.close()


def linked(*targets: str, title: str = "Page", head: str = "") -> Reply:
    links = "".join(f'<a href="{target}">there</a> ' for target in targets)
    html = (
        f"<html><head><title>{title}</title>{head}</head><body><main><p>{title} says. {links}</p></main></body></html>"
    )
    return Reply(html.encode())


def file(media_type: str, data: bytes, **headers: str) -> Reply:
    return Reply(data, headers={"content-type": media_type, **headers})


def asked(web: ScriptedWeb) -> list[str]:
    return [each.path for each in web.asked if each.path != "/robots.txt"]


async def listed(reader: Site | Sitemap) -> list[Listed]:
    return [each async for each in reader.list()]


def paths(web: ScriptedWeb, pages: list[Listed]) -> list[str]:
    return [each.address.removeprefix(web.url("docs.test/").rstrip("/")) for each in pages]


@pytest.mark.parametrize(
    ("url", "spelled"),
    [
        ("HTTP://Docs.Example:80/a/../b/./c#part", "http://docs.example/b/c"),
        ("https://docs.example:443", "https://docs.example/"),
        ("https://docs.example:8443/?", "https://docs.example:8443/"),
        ("https://docs.example/a?utm_source=x&id=1&gclid=2&UTM_Medium=y", "https://docs.example/a?id=1"),
        ("https://docs.example/%7euser/%e4%b8%ad", "https://docs.example/~user/%E4%B8%AD"),
        ("https://docs.example/中 文", "https://docs.example/%E4%B8%AD%20%E6%96%87"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://docs.example/a//b", "https://docs.example/a//b"),
        ("https://docs.example//blog/./post?x=1", "https://docs.example//blog/post?x=1"),
        ("https://docs.example//evil.example/x", "https://docs.example//evil.example/x"),
        ("https://docs.example//..//evil.example/x", "https://docs.example//evil.example/x"),
        ("https://docs.example/./", "https://docs.example/"),
        ("ftp://docs.example/", None),
        ("mailto:a@b.example", None),
        ("https://", None),
        ("https://[::1", None),
        ("https://docs.example:99999999/", None),
        ("", None),
    ],
)
def test_an_address_has_one_spelling(url: str, spelled: str | None) -> None:
    assert canonical_address(url) == spelled


@given(st.text(max_size=60), st.sampled_from(["", "https://docs.example/a/b?c=d"]))
@example(".", "")
def test_spelling_an_address_again_changes_nothing(text: str, base: str) -> None:
    once = canonical_address(text, base)
    assert once is None or canonical_address(once) == once
    for prefix in ("https://docs.example/", "https://"):
        once = canonical_address(prefix + text)
        assert once is None or canonical_address(once) == once


def test_what_is_below_a_path() -> None:
    assert folder_of("https://d.example/docs/index.html") == "/docs/"
    assert folder_of("https://d.example/docs") == "/docs"
    for address, expected in {
        "https://d.example/docs": True,
        "http://d.example/docs/a": True,
        "https://d.example/docs2": False,
        "https://other.example/docs/a": False,
        "https://d.example/": False,
    }.items():
        assert is_below(address, "d.example", "/docs") is expected, address
    assert document_id_of("a", "https://d.example/") != document_id_of("b", "https://d.example/")


async def test_a_page_comes_with_its_address_and_validators(web: ScriptedWeb, reader: WebReader) -> None:
    url = web.serve("docs.test/lamp.html", page("The lamp turns."))
    web.pages["docs.test/lamp.html"].headers |= {"etag": '"one"', "last-modified": "Mon, 05 Jan 2026 10:00:00 GMT"}
    web.serve("docs.test/old", redirect("/lamp.html?utm_source=mail"))
    web.serve("docs.test/lamp.html?utm_source=mail", web.pages["docs.test/lamp.html"])
    read = await reader.read(f"{web.url('docs.test/old')}#part")
    assert isinstance(read, WebFile)
    assert (read.address, read.name, read.media_type) == (url, "lamp.html", "text/html")
    assert read.validators == Validators('"one"', "Mon, 05 Jan 2026 10:00:00 GMT")
    assert [each.path for each in web.asked] == ["/robots.txt", "/old", "/lamp.html?utm_source=mail"]


async def test_what_did_not_change_is_not_sent_again(web: ScriptedWeb, reader: WebReader) -> None:
    url = web.serve("docs.test/a", Reply(status=304, headers={}))
    known = Validators('"one"', "Mon, 05 Jan 2026 10:00:00 GMT")
    assert await reader.read(url, known) == Unchanged(url)
    assert web.asked[-1].headers["if-none-match"] == '"one"'
    assert web.asked[-1].headers["if-modified-since"] == "Mon, 05 Jan 2026 10:00:00 GMT"


async def test_a_page_names_its_own_address_on_its_own_host_alone(web: ScriptedWeb, reader: WebReader) -> None:
    own = linked(head='<link rel="canonical" href="/stable/a">')
    stolen = linked(head='<link rel="canonical" href="http://other.test/a">')
    first = await reader.read(web.serve("docs.test/latest/a", own))
    second = await reader.read(web.serve("docs.test/b", stolen))
    assert isinstance(first, WebFile)
    assert isinstance(second, WebFile)
    assert (first.address, first.url) == (web.url("docs.test/stable/a"), web.url("docs.test/latest/a"))
    assert second.address == web.url("docs.test/b")


def test_links_are_read_from_the_page_and_its_base() -> None:
    html = b"""<html><head><base href="/docs/"></head><body><a href="a">1</a><a href="b#x">2</a><a href="b">3</a>
    <a rel="nofollow" href="c">4</a><a href="javascript:alert(1)">5</a><a>6</a></body></html>"""
    assert addresses_of(html, "https://d.example/x/")[1] == ("https://d.example/docs/a", "https://d.example/docs/b")
    assert addresses_of(b"", "https://d.example/x/") == ("https://d.example/x/", ())


@pytest.mark.parametrize(
    ("reply", "code", "reason", "kind"),
    [
        (Reply(status=404), "unreadable_document", "no such page", "missing"),
        (Reply(status=410), "unreadable_document", "no such page", "missing"),
        (Reply(status=403), "unreadable_document", "answers with 403", "failed"),
        (Reply(status=500), "web_unavailable", "answers with 500", "failed"),
        (Reply(status=503, headers={"retry-after": "9999"}), "web_unavailable", "answers with 503", "failed"),
        (file("image/png", b"\x89PNG"), "unreadable_document", "'image/png'", "failed"),
        (file("application/octet-stream", b"\0"), "unreadable_document", "is not read", "failed"),
        (file("text/html", b"x" * (MOST + 1)), "web_unavailable", "too large", "failed"),
        (redirect("http://10.0.0.1/"), "unreadable_document", "port 80", "failed"),
        (redirect("file:///etc/passwd"), "unreadable_document", "neither http nor https", "failed"),
        (redirect("/a"), "web_unavailable", "redirects too often", "failed"),
    ],
)
async def test_what_cannot_be_read_is_told(
    web: ScriptedWeb, reader: WebReader, reply: Reply, code: str, reason: str, kind: str
) -> None:
    read = await reader.read(web.serve("docs.test/a", reply))
    assert isinstance(read, Unread)
    assert (read.code, read.kind) == (code, kind)
    assert reason in read.reason


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://169.254.169.254/latest", "http://localhost/", "https://a b"]
)
async def test_no_private_address_is_reached(url: str) -> None:
    reader = WebReader(Settings(_env_file=None), ReadHere())
    read = await reader.read(url)
    assert isinstance(read, Unread)
    assert read.code in ("unreadable_document", "web_unavailable")
    await reader.close()


async def test_the_suffix_decides_where_the_type_says_nothing(web: ScriptedWeb, reader: WebReader) -> None:
    read = await reader.read(web.serve("docs.test/notes.md", file("application/octet-stream", b"# Notes")))
    assert isinstance(read, WebFile)
    assert (read.name, read.data) == ("notes.md", b"# Notes")


async def test_text_in_another_charset_is_converted_and_utf_8_stays_as_it_is(
    web: ScriptedWeb, reader: WebReader
) -> None:
    old = await reader.read(web.serve("docs.test/a", file("text/plain; charset=latin-1", "née".encode("latin-1"))))
    new = await reader.read(web.serve("docs.test/b", file("text/html; charset=utf-8", "<p>née</p>".encode())))
    pdf = await reader.read(web.serve("docs.test/c", file("application/pdf; charset=latin-1", b"%PDF-\xff")))
    assert isinstance(old, WebFile)
    assert old.data.decode("utf-8-sig") == "née"
    assert isinstance(new, WebFile)
    assert new.data == "<p>née</p>".encode()
    assert isinstance(pdf, WebFile)
    assert pdf.data == b"%PDF-\xff"


async def test_robots_are_obeyed(web: ScriptedWeb, reader: WebReader) -> None:
    rules = b"User-agent: *\nDisallow: /\n\nUser-agent: citewell\nDisallow: /private\nAllow: /private/open\n"
    web.serve("docs.test/robots.txt", file("text/plain", rules))
    for place in ("a", "private/a", "private/open"):
        web.serve(f"docs.test/{place}", page("Text."))
    read = {place: await reader.read(web.url(f"docs.test/{place}")) for place in ("a", "private/a", "private/open")}
    assert isinstance(read["a"], WebFile)
    assert isinstance(read["private/open"], WebFile)
    forbidden = read["private/a"]
    assert isinstance(forbidden, Unread)
    assert (forbidden.kind, "robots.txt" in forbidden.reason) == ("forbidden", True)
    assert asked(web) == ["/a", "/private/open"]
    assert sum(each.path == "/robots.txt" for each in web.asked) == 1


async def test_a_redirect_leads_to_nothing_that_robots_forbid(web: ScriptedWeb, reader: WebReader) -> None:
    web.serve("other.test/robots.txt", file("text/plain", b"User-agent: *\nDisallow: /"))
    read = await reader.read(web.serve("docs.test/a", redirect(web.url("other.test/secret"))))
    assert isinstance(read, Unread)
    assert read.kind == "forbidden"
    assert asked(web) == ["/a"]


async def test_a_site_whose_robots_fail_is_left_alone(web: ScriptedWeb, reader: WebReader) -> None:
    web.serve("docs.test/robots.txt", Reply(status=500))
    read = await reader.read(web.serve("docs.test/a", page("Text.")))
    assert isinstance(read, Unread)
    assert "robots.txt" in read.reason
    assert asked(web) == []
    web.pages["docs.test/robots.txt"] = Reply(status=404)
    assert isinstance(await reader.read(web.url("docs.test/a")), WebFile)


async def test_each_host_is_asked_at_one_rate(web: ScriptedWeb, reader: WebReader, clock: Clock) -> None:
    web.serve("slow.test/robots.txt", file("text/plain", b"User-agent: *\nCrawl-delay: 5\n"))
    for host in ("docs.test", "slow.test"):
        for name in "ab":
            web.serve(f"{host}/{name}", page("Text."))
    await reader.read(web.url("docs.test/a"))
    await reader.read(web.url("docs.test/b"))
    assert clock.slept == [2, 2]  # after robots.txt, and between the two
    await reader.read(web.url("slow.test/a"))
    await reader.read(web.url("slow.test/b"))
    assert clock.slept == [2, 2, 2, 5]


async def test_a_host_may_ask_to_wait(web: ScriptedWeb, reader: WebReader, clock: Clock) -> None:
    url = web.serve("docs.test/a", Reply(status=429, headers={"retry-after": "30"}))
    read = await reader.read(url)
    assert isinstance(read, Unread)
    assert asked(web) == ["/a", "/a"]
    assert clock.slept == [2, 30]


async def test_turns_are_not_waited_for_without_end() -> None:
    clock = Clock()

    async def forever(seconds: float) -> None:
        await asyncio.Event().wait()

    pace = Pace(sleep=forever, clock=clock)
    await pace.wait("a", 50)
    waiting = [asyncio.create_task(pace.wait("a", 50)) for _ in range(1)]
    await asyncio.sleep(0)
    with pytest.raises(WebUnavailable, match="too many"):
        await pace.wait("a", 50)
    await pace.wait("b", 50)
    for task in waiting:
        task.cancel()


async def test_a_site_is_read_below_its_path_and_nearest_first(web: ScriptedWeb, reader: WebReader) -> None:
    web.serve("docs.test/docs/", linked("b.html", "a.html#x", "/", "/other", "http://else.test/docs/c", "x.png"))
    web.serve("docs.test/docs/a.html", linked("deep/c.html", "./", "gone.html"))
    web.serve("docs.test/docs/b.html", linked("a.html?utm_source=b"))
    web.serve("docs.test/docs/deep/c.html", linked("../a.html"))
    found = await listed(Site(reader, web.url("docs.test/docs/"), most=50, depth=5))
    assert paths(web, found) == [
        "/docs/",
        "/docs/b.html",
        "/docs/a.html",
        "/docs/deep/c.html",
        "/docs/gone.html",
    ]
    assert [type(each.page) for each in found] == [WebFile] * 4 + [Unread]
    assert len(asked(web)) == 5


@pytest.mark.parametrize(("most", "depth", "count"), [(3, 9, 3), (99, 2, 3), (99, 0, 1)])
async def test_a_site_ends_at_its_limits(
    web: ScriptedWeb, reader: WebReader, most: int, depth: int, count: int
) -> None:
    for number in range(9):
        web.serve(f"docs.test/{number}", linked(f"/{number + 1}"))
    web.serve("docs.test/", linked("/1"))
    found = await listed(Site(reader, web.url("docs.test/"), most=most, depth=depth))
    assert len(found) == count
    assert len(asked(web)) == count


async def test_a_trap_of_addresses_ends(web: ScriptedWeb, reader: WebReader) -> None:
    """Pages that all are one, and link to ever more of themselves."""
    for number in range(40):
        links = [f"/t?n={number * 3 + more}" for more in range(1, 4)]
        web.serve(f"docs.test/t?n={number}", linked(*links, head='<link rel="canonical" href="/t">'))
    found = await listed(Site(reader, web.url("docs.test/t?n=0"), most=5, depth=99))
    assert paths(web, found) == ["/t"]
    assert len(asked(web)) <= 10


async def test_pages_that_redirect_out_of_the_site_are_left_out(web: ScriptedWeb, reader: WebReader) -> None:
    web.serve("docs.test/", linked("/out", "/in"))
    web.serve("docs.test/out", redirect(web.url("other.test/")))
    web.serve("other.test/", page("Elsewhere."))
    web.serve("docs.test/in", page("Here."))
    found = await listed(Site(reader, web.url("docs.test/"), most=9, depth=2))
    assert paths(web, found) == ["/", "/in"]


async def test_a_page_whose_word_leads_out_of_the_path_keeps_its_address(web: ScriptedWeb, reader: WebReader) -> None:
    web.serve("docs.test/latest/", linked("a"))
    web.serve("docs.test/latest/a", linked(head='<link rel="canonical" href="/stable/a">'))
    found = await listed(Site(reader, web.url("docs.test/latest/"), most=9, depth=2))
    assert paths(web, found) == ["/latest/", "/latest/a"]


async def test_links_of_a_page_that_did_not_change_are_those_that_are_kept(web: ScriptedWeb, reader: WebReader) -> None:
    web.serve("docs.test/", Reply(status=304, headers={}))
    web.serve("docs.test/a", page("Text."))
    kept = linked("/a").body

    async def find_known(address: str) -> KnownPage | None:
        async def read() -> bytes | None:
            return kept

        return KnownPage(Validators('"one"'), read) if address.endswith("/") else None

    found = await listed(Site(reader, web.url("docs.test/"), most=9, depth=2, find_known=find_known))
    assert [type(each.page) for each in found] == [Unchanged, WebFile]


def sitemap(*entries: Any, tag: str = "url", of: str = "urlset") -> Reply:
    body = "".join(f"<{tag}><loc>{loc}</loc><lastmod>{modified}</lastmod></{tag}>" for loc, modified in entries)
    xml = f'<?xml version="1.0"?><{of} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{body}</{of}>'
    return file("application/xml", xml.encode())


async def test_a_sitemap_lists_pages_of_its_host(web: ScriptedWeb, reader: WebReader) -> None:
    entries = [(web.url(f"docs.test/{name}"), f"2026-01-0{number}") for number, name in enumerate("abc", 1)]
    url = web.serve("docs.test/map.xml", sitemap(*entries, entries[0], (web.url("other.test/x"), "2026-01-01")))
    found = await listed(Sitemap(reader, url, most=9))
    assert [(each.address, each.modified, each.page) for each in found] == [(*entry, None) for entry in entries]
    assert len(await listed(Sitemap(reader, url, most=2))) == 2


async def test_an_index_of_compressed_sitemaps_is_read(web: ScriptedWeb, reader: WebReader) -> None:
    one, two = (sitemap((web.url(f"docs.test/{name}"), "2026-01-01")).body for name in "ab")
    maps = [
        web.serve("docs.test/one.xml.gz", file("application/gzip", gzip.compress(one, mtime=0))),
        web.serve("docs.test/two.xml", file("text/xml", gzip.compress(two, mtime=0), **{"content-encoding": "gzip"})),
        web.url("docs.test/gone.xml"),
    ]
    index = sitemap(*((each, "2026-01-01") for each in maps), tag="sitemap", of="sitemapindex")
    url = web.serve("docs.test/index.xml", index)
    found = await listed(Sitemap(reader, url, most=9))
    assert paths(web, found) == ["/a", "/b", "/gone.xml"]
    assert isinstance(found[2].page, Unread)


async def test_a_site_names_its_sitemap_in_its_robots(web: ScriptedWeb, reader: WebReader) -> None:
    url = web.serve("docs.test/maps/here.txt", file("text/plain", f"{web.url('docs.test/a')}\n\n".encode()))
    web.serve("docs.test/robots.txt", file("text/plain", f"Sitemap: {url}\n".encode()))
    assert paths(web, await listed(Sitemap(reader, web.url("docs.test/"), most=9))) == ["/a"]
    web.serve("else.test/sitemap.xml", sitemap((web.url("else.test/b"), "2026-01-01")))
    found = await listed(Sitemap(reader, web.url("else.test/"), most=9))
    assert [each.address for each in found] == [web.url("else.test/b")]


async def test_a_sitemap_that_is_a_single_entry_is_read(web: ScriptedWeb, reader: WebReader) -> None:
    xml = f"<?xml version='1.0'?><!-- written by hand --><url><loc>{web.url('docs.test/a')}</loc></url>"
    url = web.serve("docs.test/map.xml", file("application/xml", xml.encode()))
    assert paths(web, await listed(Sitemap(reader, url, most=9))) == ["/a"]


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset><url>",
        gzip.compress(b"<urlset>" + b" " * 2 * MOST, mtime=0),
        gzip.compress(b"<urlset/>", mtime=0)[:-9] + b"broken...",
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><urlset><url><loc>&b;</loc></url>',
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><urlset><url><loc>&a;</loc></url></urlset>',
        b"\xff\xfe\x00",
        b"",
    ],
)
async def test_a_broken_sitemap_names_no_page(web: ScriptedWeb, reader: WebReader, body: bytes) -> None:
    url = web.serve("docs.test/map.xml", file("application/xml", body))
    assert all(isinstance(each.page, Unread) for each in await listed(Sitemap(reader, url, most=9)))
