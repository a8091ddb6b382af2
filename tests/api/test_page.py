"""The page's files over HTTP: what is kept by browsers and for how long, what is compressed, what a file may do."""

import gzip
import hashlib
import re
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.static_files import (
    BESIDE,
    BUNDLE_FOLDER,
    MAIN,
    NOT_KEPT,
    PAGE_FOLDER,
    SERVICE_WORKER,
    imported_modules,
    read_page,
)
from tests.api.serving import client_of
from tests.api.test_errors import assert_problem
from tools.settings import AuditSettings, AuthSettings, Settings

INDEX = (
    '<!doctype html><link rel="stylesheet" href="page/{version}/style/all.css">\n<!-- preloads -->\n'
    '<script type="module" src="page/{version}/main.js"></script>'
)
FILES = {
    "index.html": INDEX,
    "main.js": (
        '/** @import { Thing } from "./types.js" */\n'
        'import { a } from "./a.js";\n'
        "import {\n  b,\n  c as d,\n} from './views/b.js';\n"
        'import "./side.js"\n'
        'export * from "./c.js";\n'
        'const name = "./no.js"; // import "./no.js"\n'
        'export const lazy = () => import("./lazy.js");\n'
        '  import("./lazy.js");\n' + "// a long file\n" * 100
    ),
    "a.js": 'import { b } from "./views/b.js";\nexport const a = b;\n',
    "views/b.js": 'import { deep } from "./deep/deep.js";\nimport "../a.js";\nexport const b = deep, c = 1;\n',
    "views/deep/deep.js": 'export { up as deep } from "../../up.js";\n',
    "up.js": "export const up = 1;\n",
    "side.js": "",
    "c.js": "export {};\n",
    "lazy.js": 'import "./side.js";\n',
    "types.js": "",
    "style/all.css": "body { color: canvastext }\n" * 40,
    "embed.js": "// a window in other people's pages\n" * 20 + 'import(new URL("page/{version}/embed_markup.js"))\n',
    "embed_markup.js": "// what shows Markdown in it\n",
    "icon.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    "notes.md": "not for readers",
}
PRELOADED = ["a.js", "views/b.js", "side.js", "c.js", "views/deep/deep.js", "up.js"]
PLAIN = {"accept-encoding": "identity"}
BUNDLED = re.compile(r'(?:from|import)"\./([^"]+)"')


def written(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / "page" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "page"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("small"))


def app_of(folder: Path, **auth: Any) -> Any:
    """An app that serves the page of a folder. It has no library, which its page doesn't ask for."""
    nothing: Any = object()
    unaudited = AuditSettings(keep_days=0)
    app = create_app(Settings(_env_file=None, auth=AuthSettings(**auth), audit=unaudited), citewell=nothing)
    app.state.page = read_page(folder)
    return app


@pytest.fixture(scope="module")
async def pages(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app_of(folder)) as client:
        yield client


def address(index: httpx.Response, name: str) -> str:
    found = re.search(rf'"(page/[0-9a-f]+/{name})"', index.text)
    assert found is not None
    return f"/{found[1]}"


async def test_the_page_names_its_files_by_what_is_in_them(pages: httpx.AsyncClient, folder: Path) -> None:
    index = await pages.get("/")
    assert (index.status_code, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
    version = read_page(folder).version
    links = [f'<link rel="modulepreload" href="page/{version}/{path}">' for path in PRELOADED]
    assert index.text == INDEX.replace("<!-- preloads -->", "\n".join(links)).replace("{version}", version)


async def test_a_browser_keeps_files_for_good_and_asks_again_for_the_page(pages: httpx.AsyncClient) -> None:
    index = await pages.get("/")
    assert index.headers["cache-control"] == "no-cache"
    file = await pages.get(address(index, "main.js"))
    assert file.headers["cache-control"] == "public, max-age=31536000, immutable"
    for response in (index, await pages.get("/page/another/main.js")):
        path, tag = response.request.url.path, response.headers["etag"]
        for sent in (tag, f'"other", {tag}'):
            again = await pages.get(path, headers={"if-none-match": sent})
            assert (again.status_code, again.content) == (304, b"")
            kept = {"content-type", "content-length", "content-encoding", "date", "x-request-id"}
            assert set(response.headers) - set(again.headers) <= kept
            assert all(again.headers[name] == response.headers[name] for name in set(again.headers) - kept)
        assert (await pages.get(path, headers={"if-none-match": '"other"'})).status_code == 200


async def test_a_page_that_was_open_during_an_upgrade_gets_the_file_of_today(pages: httpx.AsyncClient) -> None:
    index = await pages.get("/")
    now = await pages.get(address(index, "main.js"))
    then = await pages.get("/page/0123456789abcdef/main.js")
    assert (then.status_code, then.content, then.headers["cache-control"]) == (200, now.content, "no-cache")


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip", True),
        ("gzip, deflate, br, zstd", True),
        ("br;q=1.0, GZIP;q=0.5", True),
        ("identity", False),
        ("", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("notgzip", False),
    ],
)
async def test_a_file_is_compressed_where_that_is_taken_and_shorter(
    pages: httpx.AsyncClient, folder: Path, accepted: str, compressed: bool
) -> None:
    path = f"/page/{read_page(folder).version}/main.js"
    async with pages.stream("GET", path, headers={"accept-encoding": accepted}) as response:
        raw = b"".join([part async for part in response.aiter_raw()])
    assert response.headers["vary"] == "Accept-Encoding"
    assert response.headers.get("content-encoding") == ("gzip" if compressed else None)
    assert int(response.headers["content-length"]) == len(raw)
    assert (gzip.decompress(raw) if compressed else raw) == FILES["main.js"].encode()
    short = await pages.get("/page/any/up.js", headers={"accept-encoding": accepted})
    assert "content-encoding" not in short.headers


async def test_head_tells_what_get_would(pages: httpx.AsyncClient) -> None:
    for path in ("/", "/page/any/main.js"):
        head, get = await pages.head(path, headers=PLAIN), await pages.get(path, headers=PLAIN)
        unlike = {"date", "x-request-id"}
        assert {n: v for n, v in head.headers.items() if n not in unlike} == {
            n: v for n, v in get.headers.items() if n not in unlike
        }
        assert head.content == b""


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("main.js", "text/javascript; charset=utf-8"),
        ("style/all.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml; charset=utf-8"),
    ],
)
async def test_a_file_has_its_media_type(pages: httpx.AsyncClient, name: str, media_type: str) -> None:
    response = await pages.get(f"/page/any/{name}")
    assert (response.headers["content-type"], response.text) == (media_type, FILES[name])


async def test_the_worker_that_reads_files_loads_from_here_alone(pages: httpx.AsyncClient) -> None:
    worker = await pages.get("/page/any/vendor/pdf/worker.js")
    assert worker.headers["content-security-policy"] == "default-src 'none'; script-src 'self'; connect-src 'self'"
    library = await pages.get("/page/any/vendor/pdf/pdf.js")
    assert (library.status_code, "content-security-policy" in library.headers) == (200, False)


async def test_what_the_page_may_do_is_what_it_needs(pages: httpx.AsyncClient) -> None:
    for path in ("/", "/page/any/icon.svg"):
        headers = (await pages.get(path)).headers
        assert headers["content-security-policy"] == (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
            "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            "require-trusted-types-for 'script'; trusted-types pdf-worker citewell-worker"
        )
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-frame-options"] == "DENY"
        assert headers["permissions-policy"].startswith("camera=()")
    for path in ("/", "/page/any/icon.svg", "/page/any/main.js", "/page/any/style/all.css"):
        headers = (await pages.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"


async def test_what_a_part_of_the_page_is_sent_with_is_little(pages: httpx.AsyncClient, folder: Path) -> None:
    response = await pages.get(f"/page/{read_page(folder).version}/main.js")
    assert sum(len(name) + len(value) + 4 for name, value in response.headers.raw) < 400


async def test_any_page_may_load_the_window_and_browsers_keep_it_for_minutes(pages: httpx.AsyncClient) -> None:
    response = await pages.get("/embed.js")
    assert (response.status_code, response.headers["content-encoding"]) == (200, "gzip")
    assert response.headers["content-type"].startswith("text/javascript")
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    assert response.headers["cache-control"].startswith("public, max-age=600,")
    again = await pages.get("/embed.js", headers={"if-none-match": response.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert (await pages.post("/embed.js")).status_code == 405
    [later] = re.findall(r"page/\w+/embed_markup\.js", response.text)
    response = await pages.get(f"/{later}")
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    assert response.headers["cache-control"].endswith("immutable")


BEYOND = [
    "nowhere.js",
    "",
    "main.js/",
    "Main.js",
    "index.html",
    "notes.md",
    "style",
    "../page_files.py",
    "..%2f..%2fpage_files.py",
    "%2e%2e/index.html",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "style/../main.js",
    "main.js%00",
]


async def test_what_is_no_file_of_the_page_is_a_problem(pages: httpx.AsyncClient) -> None:
    for name in BEYOND:
        # Sent as it stands, since a client puts such an address right.
        response = await pages.get("/", extensions={"target": f"/page/any/{name}".encode()})
        body = assert_problem(response, 404, "not_found")
        assert body["suggestion"] == "Reload the page.", name
    assert (await pages.post("/page/any/main.js")).status_code == 405
    assert (await pages.post("/")).status_code == 405


@pytest.mark.parametrize("auth", [{"mode": "keys"}, {"mode": "jwt", "jwt_secret": "x" * 32}], ids=lambda a: a["mode"])
async def test_the_page_opens_before_anybody_says_who_asks(folder: Path, auth: dict[str, Any]) -> None:
    async with client_of(app_of(folder, **auth)) as client:
        index = await client.get("/", headers={"host": "citewell.example.com"})
        assert index.status_code == 200
        assert (await client.get(address(index, "main.js"))).status_code == 200
        assert_problem(await client.get("/page/any/nowhere.js"), 404, "not_found")


async def test_the_page_is_only_for_this_machine_where_nobody_is_asked(pages: httpx.AsyncClient) -> None:
    for path in ("/", "/page/any/main.js"):
        for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
            assert (await pages.get(path, headers=headers)).status_code == 403


class Addresses(HTMLParser):
    """Every address that a document names, and the inline code and style that it must not have."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.preloaded: list[str] = []
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action", "srcset")]
        if given.get("rel") == "modulepreload":
            self.preloaded.append(given.get("href") or "")
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.inline.append(tag)


@pytest.mark.parametrize("folder", [PAGE_FOLDER, BUNDLE_FOLDER], ids=["modules", "bundled"])
async def test_the_page_of_this_release_is_whole(folder: Path) -> None:
    async with client_of(app_of(folder)) as client:
        await assert_whole(client, folder)


async def assert_whole(client: httpx.AsyncClient, folder: Path) -> None:
    index = await client.get("/")
    assert (index.status_code, "{version}" in index.text) == (200, False)
    named = Addresses()
    named.feed(index.text)
    assert named.inline == []
    for path in named.addresses:
        if not path.startswith("#"):
            assert re.match(r"page/[0-9a-f]{16}/[\w/-]+\.(js|css|svg|png|webmanifest)$", path), path
            response = await client.get(f"/{path}")
            assert (response.status_code, response.headers["cache-control"][:6]) == (200, "public"), path
    page = read_page(folder)
    sources = {path: file.content for path, file in page.files.items()}
    imported = imported_modules(sources, MAIN) if folder is PAGE_FOLDER else BUNDLED.findall(sources[MAIN].decode())
    assert named.preloaded == [f"page/{page.version}/{path}" for path in imported if path != "theme.js"]


@pytest.mark.parametrize("folder", [PAGE_FOLDER, BUNDLE_FOLDER], ids=["modules", "bundled"])
def test_every_import_of_the_page_leads_to_a_file(folder: Path) -> None:
    found = 0
    served = read_page(folder).files
    for path, file in served.items():
        if not path.endswith(".js") or path.startswith(BESIDE):  # what of PDF.js is asked for, test_viewer opens
            continue
        code = re.sub(r"/\*\*.*?\*/", "", file.content.decode(), flags=re.DOTALL)  # types are imported in comments
        for match in re.finditer(r"""(?:from|import)\s*\(?\s*["']([^"',{}\s]+)["']""", code):
            assert match[1].startswith("."), (path, match[1])
            assert normpath(join(dirname(path), match[1])) in served, (path, match[1])
            found += 1
    assert found


def test_a_version_changes_with_any_file_and_with_nothing_else(folder: Path, tmp_path: Path) -> None:
    page, copy = read_page(folder), written(tmp_path)
    assert read_page(copy) == page
    assert page.files["main.js"].tag[3:-1] == hashlib.sha256(FILES["main.js"].encode()).hexdigest()[:32]
    for name in ("lazy.js", "index.html"):
        (copy / name).write_text("// changed")
        read_page.cache_clear()
        assert read_page(copy).version != page.version


async def test_the_worker_is_asked_for_anew_and_knows_the_files_of_its_release() -> None:
    async with client_of(app_of(BUNDLE_FOLDER)) as client:
        page = read_page()
        for path in ("/page/current/service_worker.js", f"/page/{page.version}/service_worker.js"):
            worker = await client.get(path)
            assert worker.headers["cache-control"] == "no-cache"
            assert worker.headers["service-worker-allowed"] == "/"
            assert "default-src 'none'" in worker.headers["content-security-policy"]
        assert f'"{page.version}"' in worker.text
        files = re.search(r'FILES = "([^"]*)"', worker.text)
        assert files is not None
        others = {name for name in page.files if name.startswith(NOT_KEPT)} | {SERVICE_WORKER}
        assert set(page.files) - others == set(files[1].split())
        manifest = await client.get(f"/page/{page.version}/manifest.webmanifest")
        assert manifest.headers["content-type"] == "application/manifest+json"
        for icon in manifest.json()["icons"]:
            found = await client.get(f"/page/{page.version}/{icon['src']}")
            assert found.headers["content-type"].startswith(icon["type"])
