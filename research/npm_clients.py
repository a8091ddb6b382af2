"""Whether npm packages that are no part of the tests show Citewell's answers and citations.

Run it with Node.js and npm against a service that has no other documents; it installs the packages in a folder of their
own, in the versions that are named here:

    python research/npm_clients.py langchain --url http://127.0.0.1:8400

It prints one JSON object, and fails where a client does not show the answer, or other citations than it is known to.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).with_name("npm_clients")
HANDBOOK_URL = "https://wiki.example/handbook"
DOCUMENT_ID = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2e01"
DOCUMENT = {"title": "Staff handbook", "url": HANDBOOK_URL, "text": "# Notice\n\nThe notice period is three months.\n"}
QUESTION, SAID = "What is the notice period?", "The notice period is three months."
SECONDS = 60


@dataclass(frozen=True)
class Client:
    """Packages in their versions, and which of the ways in which the client asks show citations beside the text."""

    packages: tuple[str, ...]
    showing: frozenset[str]


PAGE = ("react@19.3.1", "react-dom@19.3.1", "happy-dom@20.14.6")
CLIENTS = {
    "langchain": Client(("@langchain/openai@1.6.0", "@langchain/core@1.4.0"), frozenset({"responses"})),
    "openai_compatible": Client(("@ai-sdk/openai-compatible@3.0.92", "ai@7.0.173"), frozenset()),
    "assistant_ui": Client(
        ("@assistant-ui/react@0.14.26", "@assistant-ui/react-ai-sdk@1.3.40", "@assistant-ui/tap@0.9.10", *PAGE),
        frozenset({"shown"}),
    ),
    "copilotkit": Client(
        ("@copilotkit/runtime@1.75.0", "@copilotkit/react-core@1.74.0", "@ag-ui/client@0.0.59", *PAGE),
        frozenset({"shown"}),
    ),
}


def ask(name: str, url: str, folder: Path) -> Any:
    """Install a client in a folder, and let it ask; return what it shows."""
    script = shutil.copy(SCRIPTS / f"{name}.mjs", folder)
    (folder / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    quiet = ("--no-audit", "--no-fund", "--loglevel", "error")
    subprocess.run(["npm", "install", *quiet, *CLIENTS[name].packages], cwd=folder, check=True)
    command = ["node", "--no-warnings", script, url, QUESTION]
    environment = {**os.environ, "COPILOTKIT_TELEMETRY_DISABLED": "true"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def told(shown: dict[str, Any], way: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each answer that was shown, with the way in which it was asked for."""
    if "text" in shown:
        yield way, shown
        return
    for name, inner in shown.items():
        yield from told(inner, way or name)


def main() -> None:
    """Store a document, ask about it by one client, and print what that shows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("--url", required=True)
    given = parser.parse_args()
    url = given.url.rstrip("/")
    body = json.dumps(DOCUMENT).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/api/documents/{DOCUMENT_ID}", body, headers, method="PUT")
    urllib.request.urlopen(request).close()
    with tempfile.TemporaryDirectory() as folder:
        shown = ask(given.client, url, Path(folder))
    client = CLIENTS[given.client]
    for way, answer in told(shown):
        assert answer["text"] == f"{SAID}[1]", answer
        cited = [each["url"] for each in answer["citations"]]
        assert cited == ([HANDBOOK_URL] if way in client.showing else []), answer
    today = datetime.now(UTC).date().isoformat()
    print(json.dumps({"client": given.client, "packages": client.packages, "date": today, **shown}))


if __name__ == "__main__":
    main()
