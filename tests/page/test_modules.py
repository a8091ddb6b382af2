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
DEADLINE_SECONDS = 300  # of all of them, which take some 15 of a core of its own


@pytest.fixture(scope="module")
async def results() -> dict[str, Any]:
    """Run all files at once; give by file how many tests passed, and what those said that failed."""
    node = shutil.which("node")
    if node is None:
        pytest.skip(f"{SKIPPED}: the page's modules")
    process = await asyncio.create_subprocess_exec(
        node,
        "--no-warnings",
        "--test",
        "--test-reporter=./results.mjs",
        *NAMES,
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
