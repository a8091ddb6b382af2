"""The page's modules that need no browser, run by Node.js: what they make of a stream, byte by byte, event by event.

``GOLDEN`` in the environment of a test names the folder of native streams that are known to be right.
"""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from tests.wire.node_clients import SKIPPED

FOLDER = Path(__file__).parent / "node"
GOLDEN = Path(__file__).parents[1] / "wire" / "golden"
DEADLINE_SECONDS = 100


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.test.mjs")))
async def test_modules(name: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip(f"{SKIPPED}: {name}")
    process = await asyncio.create_subprocess_exec(
        node,
        "--no-warnings",
        "--test",
        name,
        cwd=FOLDER,
        env={"PATH": os.environ["PATH"], "GOLDEN": str(GOLDEN)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), DEADLINE_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, said.decode()[-6000:]
