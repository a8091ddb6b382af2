"""Firefox behind a relay of WebDriver BiDi: a program that is started in its place, with its arguments.

Playwright drives a Firefox of the distribution by BiDi, but asks each new context for media features, by a command that
releases up to 153 do not know, and gives the context up. The relay says that it is done, and passes on all else.
Theme and motion are therefore Firefox's own preferences.
"""

import asyncio
import json
import re
import sys
from asyncio.subprocess import PIPE

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve

UNKNOWN = {"emulation.setMediaFeaturesOverride"}
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


async def run(firefox: str, *arguments: str) -> int:
    """Run Firefox, and say in its words that BiDi is to be had of the relay. Return its exit code."""
    process = await asyncio.create_subprocess_exec(firefox, *arguments, stderr=PIPE)
    assert process.stderr is not None
    async for line in process.stderr:
        said = line.decode(errors="replace")
        if found := LISTENING.search(said):
            said = said.replace(found[1], await relay_to(found[1]))
        print(said, end="", file=sys.stderr, flush=True)  # noqa: T201
    return await process.wait()


async def relay_to(address: str) -> str:
    """Start a relay to a browser, which goes on until the process ends. Return its address."""

    async def relayed(client: ServerConnection) -> None:
        assert client.request is not None
        async with connect(address + client.request.path, max_size=None, compression=None) as browser:
            ways = [asyncio.create_task(ask(client, browser)), asyncio.create_task(tell(browser, client))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()

    server = await serve(relayed, "127.0.0.1", 0, max_size=None, compression=None)
    return f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def ask(client: ServerConnection, browser: ClientConnection) -> None:
    async for message in client:
        command = json.loads(message)
        if command["method"] in UNKNOWN:
            await client.send(json.dumps({"type": "success", "id": command["id"], "result": {}}))
        else:
            await browser.send(message)


async def tell(browser: ClientConnection, client: ServerConnection) -> None:
    async for message in browser:
        await client.send(message)


if __name__ == "__main__":
    sys.exit(asyncio.run(run(*sys.argv[1:])))
