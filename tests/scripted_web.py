"""A loopback server that is a web: the search endpoint and the sites behind it, saying what a test has scripted.

Sites have names below ``.test``; ``ScriptedWeb.guard`` resolves all of them to this server and allows nothing else.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tools.settings import WebSettings
from tools.web.guard import Guard

KEY = "serper-secret-key"
HTML = {"content-type": "text/html; charset=utf-8"}


@dataclass
class Reply:
    """A scripted reply. With ``held`` it stops after ``body`` until the client is gone."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: dict(HTML))
    length: int | None = None  # said instead of the true one
    held: bool = False


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    host: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


def result(url: str, snippet: str, title: str = "A page", **more: Any) -> dict[str, Any]:
    """Make a result as the search endpoint gives it."""
    return {"title": title, "link": url, "snippet": snippet, "position": 1, **more}


def found(*results: Any) -> Reply:
    """Make the endpoint's reply."""
    return Reply(json.dumps({"searchParameters": {}, "organic": list(results)}).encode(), headers={})


def page(text: str, title: str = "Page") -> Reply:
    """Make a page of HTML with one paragraph."""
    html = f"<html><head><title>{title}</title></head><body><main><p>{text}</p></main></body></html>"
    return Reply(html.encode())


def redirect(to: str, status: int = 302) -> Reply:
    """Make a redirect."""
    return Reply(status=status, headers={"location": to})


@dataclass
class ScriptedWeb:
    """``searches`` are the replies to searches, the last for all that follow; ``pages`` those of hosts and paths."""

    searches: list[Reply] = field(default_factory=lambda: [found()])
    pages: dict[str, Reply] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    port: int = 0

    @property
    def settings(self) -> WebSettings:
        return WebSettings.model_validate({"api_key": KEY, "base_url": f"http://127.0.0.1:{self.port}"})

    @property
    def guard(self) -> Guard:
        async def resolve(host: str, port: int) -> list[str]:
            return ["127.0.0.1"]

        return Guard(resolve=resolve, is_allowed=lambda address: address == "127.0.0.1", ports=frozenset({self.port}))

    def url(self, place: str) -> str:
        """Give the address of ``host/path``."""
        host, _, path = place.partition("/")
        return f"http://{host}:{self.port}/{path}"

    def serve(self, place: str, reply: Reply) -> str:
        """Script a page at ``host/path`` and give its address."""
        self.pages[place] = reply
        return self.url(place)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await _read(reader)
            self.asked.append(asked)
            reply = self._reply(asked)
            length = str(len(reply.body) if reply.length is None else reply.length)
            headers = ({} if "transfer-encoding" in reply.headers else {"content-length": length}) | reply.headers
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            writer.write(f"HTTP/1.1 {reply.status} Scripted\r\n{lines}\r\n".encode() + reply.body)
            await writer.drain()
            if reply.held:
                await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client is gone
        finally:
            writer.close()

    def _reply(self, asked: Asked) -> Reply:
        if asked.method == "POST":
            return self.searches.pop(0) if len(self.searches) > 1 else self.searches[0]
        return self.pages.get(asked.host.split(":")[0] + asked.path, Reply(status=404))


async def _read(reader: asyncio.StreamReader) -> Asked:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ")
    return Asked(method, headers["host"], path, headers, body)


@asynccontextmanager
async def serve_web() -> AsyncIterator[ScriptedWeb]:
    script = ScriptedWeb()
    listening = await asyncio.start_server(script.handle, "127.0.0.1", 0)
    async with listening:
        script.port = listening.sockets[0].getsockname()[1]
        yield script
