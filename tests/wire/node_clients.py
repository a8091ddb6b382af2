"""Clients of other people's, run by Node.js against a served app: what they make of our streams is what counts.

``make test`` installs them from ``tests/wire/node/package-lock.json`` where Node.js and npm are there.
"""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "node"
INSTALLED = FOLDER / "node_modules" / ".package-lock.json"
SKIPPED = "without its Node.js client"  # .ci/run looks for these words
DEADLINE_SECONDS = 30.0


async def run_client(script: str, *arguments: str, client: str = "", seconds: float = DEADLINE_SECONDS) -> Any:
    """Run a script of ``tests/wire/node`` and give the last line of its output, read as JSON.

    ``client`` is what the test is said to have gone without where Node.js or its packages are missing; the script's
    own name otherwise. A script that fails, or is not done within ``seconds``, fails the test with what it wrote to
    its standard error.
    """
    node = shutil.which("node")
    if node is None or not INSTALLED.exists():
        pytest.skip(f"{SKIPPED}: {client or script}")
    process = await asyncio.create_subprocess_exec(
        node,
        "--no-warnings",
        script,
        *arguments,
        cwd=FOLDER,
        env={"PATH": os.environ["PATH"]},  # and so no proxy
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, errors = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        pytest.fail(f"{script} {' '.join(arguments)} was not done within {seconds:g} s")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    lines = output.decode().strip().splitlines()
    assert process.returncode == 0, f"{script} {' '.join(arguments)} failed:\n{errors.decode()[-4000:]}"
    assert lines, f"{script} {' '.join(arguments)} printed nothing:\n{errors.decode()[-4000:]}"
    return json.loads(lines[-1])
