"""The page's modules that need no browser, run by Node.js: what they make of a stream, byte by byte, event by event.

``GOLDEN`` in the environment of a test names the folder of native streams that are known to be right.
"""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.wire.node_clients import SKIPPED

FOLDER = Path(__file__).parent / "node"
GOLDEN = Path(__file__).parents[1] / "wire" / "golden"
NAMES = sorted(path.name for path in FOLDER.glob("*.test.mjs"))
# What they do before each test would be done before those of others.
APART = ("following.test.mjs", "incoming.test.mjs")
TOGETHER = ("together.mjs", *(name for name in NAMES if name not in APART))
DEADLINE_SECONDS = 300  # of each process, which takes some 5 of a core of its own


@pytest.fixture(scope="module")
async def results() -> dict[str, Any]:
    """Run all files at once; give by file how many tests passed, and what those said that failed."""
    node = shutil.which("node")
    if node is None:
        pytest.skip(f"{SKIPPED}: the page's modules")
    reports = await asyncio.gather(*(run(node, *names) for names in (TOGETHER, *((name,) for name in APART))))
    return {name: told for report in reports for name, told in report.items()}


async def run(node: str, *names: str) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        node,
        "--no-warnings",
        "--test-reporter=./results.mjs",
        *names,
        cwd=FOLDER,
        env={"PATH": os.environ["PATH"], "GOLDEN": str(GOLDEN)},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), DEADLINE_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return dict(json.loads(said))


@pytest.mark.parametrize("name", NAMES)
async def test_modules(name: str, results: dict[str, Any]) -> None:
    assert results[name]["failed"] == []
    assert results[name]["passed"] > 0
