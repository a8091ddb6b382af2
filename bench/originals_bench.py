"""Benchmark of hostile originals: what reading and showing them costs the server, and those who ask it meanwhile.

Each is small and holds millions of elements, and its reader takes seconds and hundreds of megabytes where it is not
refused. Ordinary files are shown twice, to tell what the first view costs.
"""

import asyncio
import io
import time
import zipfile
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from bench.figures import Figure, figure, percentile
from bench.libraries import fill_small_library
from bench.serving import CITEWELL, Served, served
from tools.settings import load_settings

QUESTIONS, WARM_UP = 60, 10
VIEWS = 200
VIEWERS = 6  # at once
MEGABYTE = 1e6
SHOWN = Path(__file__).parents[1] / "tests/fixtures"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_PIXEL = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0"


async def run(folder: Path) -> list[Figure]:
    """Ask in quiet, store hostile files and show them while others ask, and show ordinary ones."""
    await asyncio.to_thread(folder.chmod, 0o711)
    data = folder / "data"
    questions = await fill_small_library(load_settings(data_dir=data), QUESTIONS + WARM_UP)
    async with (
        served(folder, data, *CITEWELL, "serve", "--port", "0", "--json") as server,
        httpx.AsyncClient(base_url=server.url, timeout=300, trust_env=False) as client,
    ):
        ordinary = [
            await _views_of(client, SHOWN / name, path)
            for name, path in (("documents/guide.docx", "layout"), ("published/lamps_chromium.pdf", "segments/0/place"))
        ]
        await _ask(client, questions[:WARM_UP])
        quiet = await _ask(client, questions[WARM_UP:])
        memory = _memory(server)
        async with _meanwhile(lambda: _store_all(client)):
            storing = await _ask(client, questions[WARM_UP:])
        documents = await _stored(client)
        stored = _memory(server)
        async with _meanwhile(lambda: _show_all(client, documents)):
            showing = await _ask(client, questions[WARM_UP:])
        after = _memory(server)
    found = [
        figure("memory of the server after storing hostile files", (stored - memory) / MEGABYTE, "MB more"),
        figure("memory of the server after 200 views of them", (after - stored) / MEGABYTE, "MB more", at_most=20),
        figure("a question in quiet p95", percentile(quiet, 0.95) * 1000, "ms"),
    ]
    for name, seconds in (("stored", storing), ("shown", showing)):
        share = percentile(seconds, 0.95) / percentile(quiet, 0.95)
        found.append(figure(f"a question p95 while hostile files are {name}", share, "of quiet", at_most=1.5))
    for name, (first, second) in zip(("layout of a Word document", "place in a PDF"), ordinary, strict=True):
        found.append(figure(f"first {name}", first * 1000, "ms"))
        found.append(figure(f"second {name}", second * 1000, "ms"))
    return found


def _memory(server: Served) -> int:
    """Return the memory of the process that serves, without those that read files."""
    return int(server.process.memory_info().rss)


async def _ask(client: httpx.AsyncClient, questions: list[str]) -> list[float]:
    """Return the seconds that each question took."""
    taken = []
    for question in questions:
        began = time.perf_counter()
        session = (await client.post("/api/sessions", json={})).json()["session_id"]
        answer = await client.post(f"/api/sessions/{session}/runs", json={"question": question, "search": "always"})
        answer.raise_for_status()
        taken.append(time.perf_counter() - began)
    return taken


@asynccontextmanager
async def _meanwhile(work: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Let work begin, and wait for its end."""
    task = asyncio.ensure_future(work())
    await asyncio.sleep(1)
    yield
    await task


async def _store_all(client: httpx.AsyncClient) -> None:
    async def store(name: str, data: bytes) -> None:
        await client.post("/api/documents", files={"file": (name, data)}, headers={"Prefer": "wait=60"})

    await asyncio.gather(*(store(name, data) for name, data in await asyncio.to_thread(lambda: [*_hostile_files()])))


async def _stored(client: httpx.AsyncClient) -> list[str]:
    """Return the hostile documents, once all of them are stored or refused."""
    while any(job["state"] != "finished" for job in (await client.get("/api/jobs")).json()["jobs"]):  # noqa: ASYNC110
        await asyncio.sleep(1)
    found = (await client.get("/api/documents?limit=100")).json()["documents"]
    return [each["document_id"] for each in found if each["title"].startswith("hostile")]


async def _show_all(client: httpx.AsyncClient, documents: list[str]) -> None:
    """Show documents in all ways, again and again, and each time another place."""
    paths = ("layout", "pictures/0", "segments/0/place?start=0&end=", "layout")
    views = [f"/api/documents/{documents[n % len(documents)]}/{paths[n // len(documents) % 4]}" for n in range(VIEWS)]
    waiting = iter(f"{view}{5 + n // 8}" if view.endswith("=") else view for n, view in enumerate(views))

    async def show() -> None:
        for path in waiting:
            await client.get(path)

    await asyncio.gather(*(show() for _ in range(VIEWERS)))


async def _views_of(client: httpx.AsyncClient, file: Path, path: str) -> tuple[float, float]:
    """Return the seconds of the first and of the second view of a file, by a process that has read files."""
    stored = await client.post(
        "/api/documents",
        files={"file": (file.name, await asyncio.to_thread(file.read_bytes))},
        headers={"Prefer": "wait=60"},
    )
    address = f"/api/documents/{stored.json()['document_id']}/{path}"
    taken = []
    for _ in range(2):
        began = time.perf_counter()
        (await client.get(address)).raise_for_status()
        taken.append(time.perf_counter() - began)
    return taken[0], taken[1]


def _hostile_files() -> Iterator[tuple[str, bytes]]:
    for number in range(2):
        words = f"The hostile tower {number} is eighty metres high in total."
        yield f"hostile-elements-{number}.docx", _word_file(words, "<x/>" * 4_500_000)
        yield f"hostile-paths-{number}.pdf", _pdf(words, b"0 0 m 9 9 l S\n" * 2_900_000)
        yield f"hostile-anchors-{number}.html", f"<p>{words}</p>".encode() + b"<a href=x>" * 1_500_000
        pixels = (b64encode(_PIXEL + n.to_bytes(30_000, "big")).decode() for n in range(490))
        yield (
            f"hostile-pictures-{number}.md",
            (words + "\n\n" + "\n\n".join(f"![picture](data:image/png;base64,{each})" for each in pixels)).encode()[
                :19_000_000
            ],
        )
        yield f"hostile-lines-{number}.txt", words.encode() + b"\n\na" * 200_000


def _word_file(words: str, filling: str) -> bytes:
    packed = io.BytesIO()
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    text = f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p><w:p><w:pPr>{filling}</w:pPr></w:p>"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{_WORD}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Type="{relation}" '
            'Target="word/document.xml"/></Relationships>',
        )
        archive.writestr("word/document.xml", f"<w:document {w}><w:body>{text}</w:body></w:document>")
    return packed.getvalue()


def _pdf(words: str, drawing: bytes) -> bytes:
    packed = zlib.compress(b"BT /F1 12 Tf 10 700 Td (" + words.encode() + b") Tj ET\n" + drawing, 9)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Filter/FlateDecode/Length %d>>stream\n" % len(packed) + packed + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    written, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj" % number + each + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(written))
    return written + head + table + end
