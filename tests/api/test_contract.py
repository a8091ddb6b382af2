"""The service keeps to its OpenAPI document, whatever schemathesis makes of it. `make contract` runs this.

schemathesis has an environment of its own, since it and langgraph-api want different releases of jsonschema-rs.
CONTRACT_SECONDS bounds the run, in which every operation then gets a share.
"""

import asyncio
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from api.app import create_app
from cli.http_protocol import Bounds, bounded_by
from graph.entrypoint import Citewell
from tests.api.serving import served
from tools.settings import Settings

PROGRAM = shutil.which("schemathesis")
SEED, EXAMPLES = 7, 3  # some 4,700 requests; a minute or two
BUDGET = os.environ.get("CONTRACT_SECONDS")
# Not what is refused beyond the schema: cursors that come from a list, texts that name something, fields that exclude
# each other.
RUN = [
    "--checks",
    "all",
    "--exclude-checks",
    "positive_data_acceptance",
    "--phases",
    "examples,coverage,fuzzing",
    "--workers",
    "1",  # with two threads, hypothesis sometimes breaks a cache of its own
    "--continue-on-failure",
]


@pytest.mark.timeout(600)
@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not on the PATH: `make contract` installs it")
async def test_every_answer_is_one_that_the_description_has(
    settings: Settings, citewell: Citewell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = create_app(settings.model_copy(update={"pool_timeout_seconds": 20.0}), citewell=citewell)
    async with served(app, http=bounded_by(Bounds())) as url:
        running = await asyncio.create_subprocess_exec(
            str(PROGRAM),
            *("--config-file", str(Path(__file__).with_name("schemathesis.toml")), "run", f"{url}/openapi.json", *RUN),
            *("--seed", str(SEED), "--max-examples", str(EXAMPLES), "--request-timeout", "60", "--no-color"),
            *(("--max-time", BUDGET) if BUDGET else ()),
            cwd=tmp_path,  # it keeps a folder of its own where it runs
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await running.communicate()
    report = re.sub(r"\S{300,}", "…", told.decode(errors="replace"))[-30_000:]
    with capsys.disabled():
        tried = f"{told_of('Selected|Tested', report)}; {told_of('[0-9]+ generated', report)}"
        sys.stdout.write(f"\nschemathesis: operations {tried}\n")
    assert running.returncode == 0, report
    assert "Tested: " in report


def told_of(pattern: str, report: str) -> str:
    """Give the lines of a report's summary that begin with a pattern."""
    return ", ".join(line.strip() for line in re.findall(rf"^ *(?:{pattern}).*$", report, re.MULTILINE))
