import shutil

import pytest

from tests.wire.node_clients import INSTALLED, SKIPPED, run_client

has_clients = pytest.mark.skipif(shutil.which("node") is None or not INSTALLED.exists(), reason=f"{SKIPPED}: Node.js")


async def test_a_machine_without_node_skips_and_names_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(pytest.skip.Exception, match=r"without its Node\.js client: a client of theirs"):
        await run_client("none.mjs", client="a client of theirs")


@has_clients
async def test_a_client_that_fails_shows_what_it_said() -> None:
    with pytest.raises(AssertionError, match=r"(?s)none\.mjs.*Cannot find module"):
        await run_client("none.mjs")


@has_clients
async def test_a_client_that_hangs_is_stopped() -> None:
    with pytest.raises(pytest.fail.Exception, match="was not done within"):
        await run_client("hanging.mjs", seconds=0.5)
