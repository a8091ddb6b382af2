"""One call of a search tool of an MCP server, by the official SDK, over stdio or streamable HTTP.

Each search opens a connection of its own and closes it: nothing of one asker is left for the next, and a server that
died is started again by the next search. The SDK is imported at the first search.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2

from graph.errors import McpUnavailable
from tools.mcp_search.results import Found, FoundLink, FoundText, error_text, results_of, web_url
from tools.settings import McpServerSettings

if TYPE_CHECKING:
    from mcp import Client

ASK_SECONDS = 10.0  # as long as a search of the web may take, beside which it runs
RESULTS = 5  # as many as of the web
MOST_BYTES = 2_000_000  # of a reply, and of one result's text
LONGEST_ERROR = 200
MOST_PAGES = 20  # of a server's list of tools
QUERY, TOP_K = "{query}", "{top_k}"
FAILURES = (OSError, httpx2.HTTPError, ValueError, RuntimeError)  # of connections, processes and replies


T = TypeVar("T")


class McpServer:
    """A server of the settings, asked for ``seconds``. Its headers and environment go to it alone, into no message."""

    def __init__(self, settings: McpServerSettings, *, seconds: float = ASK_SECONDS) -> None:
        self.settings = settings
        self.seconds = seconds
        self.name = settings.name

    async def search(self, query: str) -> Found:
        """Call the search tool, and read the resources that its reply links to, as far as the server serves them.

        Raises McpUnavailable if the server can't be asked, or its tool fails.
        """
        return await self._with_client(lambda client: self._search(client, query))

    async def check(self) -> None:
        """Check that the server answers and has the tool. Raises McpUnavailable."""
        try:
            async with asyncio.timeout(self.seconds):
                names = await self._with_client(_tool_names)
        except TimeoutError as error:
            raise McpUnavailable(f"{self.name}: its server did not answer in time.") from error
        if self.settings.tool not in names:
            has = _short(", ".join(names)) or "none"
            raise McpUnavailable(f"{self.name}: its server has no tool {self.settings.tool}; it has: {has}.")

    async def _search(self, client: "Client", query: str) -> Found:
        found = results_of(await self._call(client, query))
        found.results = [
            await self._read(client, each) if isinstance(each, FoundLink) else each for each in found.results[:RESULTS]
        ]
        return found

    async def _with_client(self, work: Callable[["Client"], Awaitable[T]]) -> T:
        """Do some work with an open connection. Raises McpUnavailable where it or the connection fails."""
        from mcp.shared.exceptions import MCPError

        try:
            async with AsyncExitStack() as stack:
                return await work(
                    await stack.enter_async_context(await asyncio.to_thread(_client, self.settings, stack))
                )
        except (McpUnavailable, MCPError, ExceptionGroup, *FAILURES) as error:
            match cause := _first(error):
                case McpUnavailable():
                    raise cause from error
                case MCPError():
                    raise McpUnavailable(f"{self.name}: its server answers: {_short(cause.message)}.") from error
                case _ if isinstance(cause, FAILURES):
                    kind = type(cause).__name__
                    raise McpUnavailable(f"{self.name}: its server cannot be asked ({kind}).") from error
            raise

    async def _call(self, client: "Client", query: str) -> dict[str, Any]:
        settings = self.settings
        result = await client.call_tool(settings.tool, _filled(settings.arguments, query))
        reply = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        if reply.get("isError"):
            said = _short(error_text(reply)) or "no reason given"
            raise McpUnavailable(f"{self.name}: its tool {settings.tool} failed: {said}.")
        return reply

    async def _read(self, client: "Client", link: FoundLink) -> FoundText | FoundLink:
        """Read the resource of a link; one that the server does not serve as text is left as it is."""
        from mcp.shared.exceptions import MCPError

        try:
            result = await client.read_resource(link.uri)
        except (MCPError, ValueError):
            return link
        contents = result.model_dump(mode="json", by_alias=True, exclude_none=True).get("contents", [])
        read = results_of({"content": [{"type": "resource", "resource": each} for each in contents[:1]]}).results
        if not read or not isinstance(read[0], FoundText):
            return link
        return replace(read[0], title=link.title, url=read[0].url or web_url(link.uri))


async def _tool_names(client: "Client") -> list[str]:
    names: list[str] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        if (cursor := page.next_cursor) is None:
            break
    return names


def _client(settings: McpServerSettings, stack: AsyncExitStack) -> "Client":
    """Make a client of the server; the import takes half a second, so this runs in a thread."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import Implementation

    if settings.command is not None:
        # What the server writes to its stderr is its own; it may quote what it was asked.
        silent = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 closed by the stack
        env = {name: value.get_secret_value() for name, value in settings.env.items()}
        started = StdioServerParameters(command=settings.command, args=settings.args, env=env)
        transport = stdio_client(started, errlog=silent)
    else:
        assert settings.url is not None
        headers = {name: value.get_secret_value() for name, value in settings.headers.items()}
        http = httpx2.AsyncClient(
            headers={**headers, "Accept-Encoding": "identity"},
            timeout=ASK_SECONDS,
            transport=BoundedTransport(MOST_BYTES),
        )
        stack.push_async_exit(http)
        transport = streamable_http_client(settings.url, http_client=http, max_sse_event_size=MOST_BYTES)
    return Client(
        transport,
        read_timeout_seconds=ASK_SECONDS,
        client_info=Implementation(name="citewell", version="1"),
        cache=None,
    )


class BoundedTransport(httpx2.AsyncBaseTransport):
    """The transport of requests to one server, which breaks off replies that are larger than ``max_bytes``."""

    def __init__(self, max_bytes: int) -> None:
        # No connection is kept, and no proxy of the environment is used: the address is that of the settings.
        self._transport = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_keepalive_connections=0))
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises as a transport does; for a reply in an encoding that was not asked for, ReadError."""
        response = await self._transport.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.ReadError("The reply is encoded.", request=request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, self._max_bytes)
        return response

    async def aclose(self) -> None:
        await self._transport.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._stream:
            self._left -= len(data)
            if self._left < 0:
                raise httpx2.ReadError("The reply is too large.")
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


def _filled(template: Any, query: str) -> Any:
    """Return a tool's arguments with the query in the place of ``{query}``, and the count of ``{top_k}``."""
    if isinstance(template, Mapping):
        return {name: _filled(each, query) for name, each in template.items()}
    if isinstance(template, list):
        return [_filled(each, query) for each in template]
    if template == TOP_K:
        return RESULTS
    return template.replace(QUERY, query) if isinstance(template, str) else template


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _short(text: str) -> str:
    line = " ".join(text[: 4 * LONGEST_ERROR].split()).rstrip(".")
    return line if len(line) <= LONGEST_ERROR else f"{line[:LONGEST_ERROR]}…"
