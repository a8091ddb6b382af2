"""Whether MCP clients that can't be installed beside Citewell get its answers, citations and errors unchanged.

Run it by the Python of an environment that has the client, or Node.js for the inspector, against a service that holds
no other documents:

    python -m venv /tmp/client && /tmp/client/bin/pip install fastmcp
    /tmp/client/bin/python research/mcp_clients.py fastmcp --url http://127.0.0.1:8400

It prints one JSON object, and fails where a client gets anything else than what the service has sent.
"""

import argparse
import asyncio
import json
import subprocess
import urllib.request
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

DOCUMENT_ID = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2c01"
TEXT = "# Leave\n\nEvery employee gets 25 days of annual leave a year. Unused leave lapses in March.\n"
ASKED = {"question": "How many days of annual leave does an employee get?"}
SAID = "Every employee gets 25 days of annual leave a year."
WRONG = {"document_id": "nonsense"}
INSPECTOR = "@modelcontextprotocol/inspector"


@dataclass
class Seen:
    """What a client got: names of tools, the citations of an answer, the text of an error, addresses of resources."""

    tools: list[str]
    citations: list[dict[str, Any]]
    error: str
    resources: list[str]
    progress: list[str | None] = field(default_factory=list)


async def use_fastmcp(url: str) -> Seen:
    """Use the client of fastmcp."""
    from fastmcp import Client
    from fastmcp.exceptions import ToolError

    steps: list[str | None] = []

    async def tell(done: float, total: float | None, message: str | None) -> None:
        steps.append(message)

    async with Client(url) as client:
        answer = await client.call_tool("ask", ASKED, progress_handler=tell)
        try:
            error = str(await client.call_tool("read", WRONG))
        except ToolError as raised:
            error = str(raised)
        tools = [tool.name for tool in await client.list_tools()]
        resources = [str(resource.uri) for resource in await client.list_resources()]
    return Seen(tools, answer.structured_content["citations"], error, resources, steps)


async def use_langchain(url: str) -> Seen:
    """Use the tools that langchain-mcp-adapters makes of ours."""
    from langchain_mcp_adapters.client import MultiServerMCPClient

    client = MultiServerMCPClient({"citewell": {"transport": "streamable_http", "url": url}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    answer = await tools["ask"].ainvoke({"type": "tool_call", "id": "1", "name": "ask", "args": ASKED})
    wrong = await tools["read"].ainvoke(WRONG)
    resources = [str(blob.metadata["uri"]) for blob in await client.get_resources("citewell")]
    return Seen(list(tools), answer.artifact["structured_content"]["citations"], wrong[0]["text"], resources)


async def use_agents(url: str) -> Seen:
    """Use the MCP server of openai-agents."""
    from agents.mcp import MCPServerStreamableHttp

    async with MCPServerStreamableHttp(params={"url": url}) as server:
        tools = [tool.name for tool in await server.list_tools()]
        answer = await server.call_tool("ask", ASKED)
        wrong = await server.call_tool("read", WRONG)
        resources = [str(resource.uri) for resource in (await server.list_resources()).resources]
    return Seen(tools, answer.structuredContent["citations"], wrong.content[0].text, resources)


async def use_inspector(url: str) -> Seen:
    """Use the protocol's inspector, in the version that npx finds."""

    def inspect(*arguments: str) -> Any:
        command = ["npx", "--yes", INSPECTOR, "--cli", url, "--transport", "http", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        return json.JSONDecoder().raw_decode(done.stdout)[0]

    def call(tool: str, name: str, value: str) -> Any:
        return inspect("--method", "tools/call", "--tool-name", tool, "--tool-arg", f"{name}={value}")

    (asked,), (wrong,) = ASKED.items(), WRONG.items()
    return Seen(
        [tool["name"] for tool in inspect("--method", "tools/list")["tools"]],
        call("ask", *asked)["structuredContent"]["citations"],
        call("read", *wrong)["content"][0]["text"],
        [resource["uri"] for resource in inspect("--method", "resources/list")["resources"]],
    )


CLIENTS: dict[str, Callable[[str], Coroutine[Any, Any, Seen]]] = {
    "fastmcp": use_fastmcp,
    "langchain-mcp-adapters": use_langchain,
    "openai-agents": use_agents,
    INSPECTOR: use_inspector,
}


def main() -> None:
    """Store a document, use its library by one client and print what it got."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("--url", required=True)
    given = parser.parse_args()
    body = json.dumps({"title": "Staff handbook", "text": TEXT}).encode()
    stored = urllib.request.Request(
        f"{given.url}/api/documents/{DOCUMENT_ID}", body, {"content-type": "application/json"}, method="PUT"
    )
    urllib.request.urlopen(stored, timeout=60).close()
    seen = asyncio.run(CLIENTS[given.client](f"{given.url}/mcp"))
    assert seen.tools == ["search", "read", "ask", "verify"], seen
    citation = seen.citations[0]
    assert (citation["quote"], citation["verdict"]) == (SAID, "supported"), seen
    assert TEXT[citation["start"] : citation["end"]] == SAID, seen
    assert seen.error.startswith("invalid_request: document_id: "), seen
    assert seen.resources == [f"citewell://documents/{DOCUMENT_ID}"], seen
    number = "as npx finds it" if given.client == INSPECTOR else version(given.client)
    told = {"client": given.client, "version": number, "at": datetime.now(UTC).date().isoformat()}
    print(json.dumps({**told, "citations": len(seen.citations), "progress": seen.progress}))


if __name__ == "__main__":
    main()
