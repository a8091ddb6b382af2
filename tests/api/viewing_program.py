"""A process that serves: it takes in one file of each format, shows each in every way, and tells what it has loaded."""

import asyncio
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any, NoReturn

import httpx
import httpx2
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import open_citewell
from tests.api.serving import client_of
from tests.scripted_web import Reply, ScriptedWeb, page, serve_web
from tools.settings import Settings

PREFER = {"Prefer": "wait=60"}
PARSERS = re.compile(
    r"lxml|pypdfium2|docx|openpyxl|pyexpat|xml\.(?:etree|dom|parsers)|xml\.sax\.expatreader|html5lib"
    r"|tools\.parsers\.(?:archives|zipped|office_package|html|pdf\w*|docx|pictures)$"
)


async def main(url: str, folder: str, *files: str) -> dict[str, Any]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("the process that serves opens an archive")

    zipfile.ZipFile.__init__ = refuse  # type: ignore[method-assign]
    roots = Path(folder, "roots")
    settings = Settings(
        _env_file=None, database_url=SecretStr(url), data_dir=Path(folder, "data"), source_roots=[str(roots)]
    )
    shown: dict[str, Any] = {}
    async with (
        open_citewell(settings) as citewell,
        serve_web() as web,
        client_of(create_app(settings, citewell=citewell)) as client,
    ):
        reader = citewell.library.pages._reader
        reader._guard, reader._transport = web.guard, httpx2.AsyncHTTPTransport(verify=False)
        for file in map(Path, files):
            given = {"file": (file.name, file.read_bytes())}
            reply = await client.post("/api/documents", files=given, headers=PREFER)
            shown[file.name] = await _shown(client, reply)
        shown["page"] = await _shown(client, await client.post("/api/documents", json=_site(web), headers=PREFER))
        site = web.url("docs.test/")
        for source in (
            {"kind": "folder", "location": str(roots)},
            {"kind": "site", "location": site, "extent": "site"},
            {"kind": "site", "location": f"{site}sitemap.xml", "extent": "sitemap"},
        ):
            shown[source.get("extent", "folder")] = await _synced(client, source)
        shown["answer"] = await _asked(client)
    loaded = sorted(name for name in sys.modules if PARSERS.match(name))
    return {"shown": shown, "loaded": loaded}


def _site(web: ScriptedWeb) -> dict[str, str]:
    web.serve("docs.test/", Reply(b'<a href="lamps">Lamps</a> <p>All of the lamps.</p>'))
    web.serve("docs.test/lamps", page("The lamps burn at night."))
    address = web.url("docs.test/lamps")
    web.serve("docs.test/sitemap.xml", Reply(f"<urlset><url><loc>{address}</loc></url></urlset>".encode()))
    return {"url": address}


async def _synced(client: httpx.AsyncClient, source: dict[str, str]) -> Any:
    made = (await client.post("/api/sources", json=source)).json()
    address = f"/api/sources/{made['source_id']}"
    await client.post(f"{address}/sync")
    while not (told := (await client.get(address)).json())["report"]:  # noqa: ASYNC110 - of another task
        await asyncio.sleep(0.05)
    return told["report"]


async def _shown(client: httpx.AsyncClient, reply: httpx.Response) -> dict[str, Any]:
    """Look at a document in every way; give the statuses."""
    document_id = reply.json().get("document_id")
    if document_id is None:
        return {"stored": reply.status_code, "said": reply.json()}
    paths = ("", "/raw-text", "/layout", "/pictures/0", "/original", "/versions", "/segments/0/place")
    below = {path: (await client.get(f"/api/documents/{document_id}{path}")).status_code for path in paths}
    below["page"] = (await client.get(f"/documents/{document_id}?quote=0-9")).status_code
    return {"stored": reply.status_code, **below}


async def _asked(client: httpx.AsyncClient) -> dict[str, Any]:
    session = (await client.post("/api/sessions", json={})).json()["session_id"]
    answer = await client.post(f"/api/sessions/{session}/runs", json={"question": "When do the lamps burn?"})
    export = await client.get(f"/api/sessions/{session}/export?format=md")
    return {"asked": answer.status_code, "exported": export.status_code}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(*sys.argv[1:]))))
