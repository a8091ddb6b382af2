"""The service keeps to its OpenAPI document, whatever schemathesis makes of it. `make contract` runs this.

schemathesis has an environment of its own, since it and langgraph-api want different releases of jsonschema-rs.
"""

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from api.app import create_app
from cli.http_protocol import bounded_by
from graph.entrypoint import Citewell
from tests.api.serving import served
from tools.settings import HttpSettings, Settings

PROGRAM = shutil.which("schemathesis")
SEED, EXAMPLES = 7, 3  # about 4,000 requests in a minute
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
    "2",
    "--continue-on-failure",
]


@pytest.mark.timeout(600)
@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not on the PATH: `make contract` installs it")
async def test_every_answer_is_one_that_the_description_has(settings: Settings, citewell: Citewell) -> None:
    app = create_app(settings.model_copy(update={"pool_timeout_seconds": 20.0}), citewell=citewell)
    async with served(app, http=bounded_by(HttpSettings())) as url:
        running = await asyncio.create_subprocess_exec(
            str(PROGRAM),
            *("--config-file", str(Path(__file__).with_name("schemathesis.toml")), "run", f"{url}/openapi.json", *RUN),
            *("--seed", str(SEED), "--max-examples", str(EXAMPLES), "--request-timeout", "60", "--no-color"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await running.communicate()
    assert running.returncode == 0, re.sub(r"\S{300,}", "…", told.decode(errors="replace"))
