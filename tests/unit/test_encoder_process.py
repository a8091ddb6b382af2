"""The process of an encoder: it ends with its parent, is started again where it dies, and questions come first."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.onnx_models import encoder, write_folder
from tools.encoders.encoder_process import MOST_WAITING, EncoderFailed, EncoderProcess


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "tiny", encoder()) / "onnx" / "model.onnx"


@pytest.fixture
async def process(weights: Path) -> AsyncIterator[EncoderProcess]:
    made = EncoderProcess(weights)
    yield made
    await made.close()


def children() -> list[psutil.Process]:
    found = [each for each in psutil.Process().children() if each.status() != psutil.STATUS_ZOMBIE]
    return [each for each in found if "tools.encoders.encoding" in " ".join(each.cmdline())]


def child() -> psutil.Process:
    [found] = children()
    return found


async def test_a_process_that_dies_is_started_again(process: EncoderProcess) -> None:
    first = await process.ask(["a"])
    dead = child()
    dead.send_signal(signal.SIGKILL)
    np.testing.assert_array_equal(await process.ask(["a"]), first)
    assert child().pid != dead.pid


async def test_one_that_dies_again_is_given_up(process: EncoderProcess, weights: Path) -> None:
    await process.ask(["a"])
    child().send_signal(signal.SIGSTOP)

    async def kill() -> None:
        killed: list[int] = []
        while len(killed) < 2:
            await asyncio.sleep(0.01)
            for found in children():
                if found.pid not in killed:
                    killed.append(found.pid)
                    found.send_signal(signal.SIGKILL)

    killing = asyncio.create_task(kill())
    with pytest.raises(EncoderFailed, match="SIGKILL"):
        await process.ask(["a"])
    await killing
    assert len(await process.ask(["a"]))


async def test_one_that_hangs_is_ended_after_its_time(weights: Path) -> None:
    process = EncoderProcess(weights, seconds=30)
    try:
        await process.ask(["a"])
        hung = child()
        hung.send_signal(signal.SIGSTOP)
        process._seconds = 0.2
        with pytest.raises(EncoderFailed, match="seconds"):
            await process.ask(["a"])
        assert not hung.is_running()
    finally:
        await process.close()


async def test_questions_come_first_and_those_that_nobody_waits_for_are_left_out(process: EncoderProcess) -> None:
    await process.ask(["a"])
    child().send_signal(signal.SIGSTOP)
    done: list[str] = []

    async def ask(name: str, *, first: bool = False) -> None:
        await process.ask([name], first=first)
        done.append(name)

    running = asyncio.create_task(ask("running"))
    await asyncio.sleep(0)
    documents = [asyncio.create_task(ask(name)) for name in ("one", "two")]
    question = asyncio.create_task(ask("question", first=True))
    await asyncio.sleep(0)
    documents[0].cancel()
    child().send_signal(signal.SIGCONT)
    await asyncio.wait([running, *documents, question])
    assert done == ["running", "question", "two"]


async def test_a_question_does_not_wait_behind_too_many_and_documents_do(process: EncoderProcess) -> None:
    await process.ask(["a"])
    child().send_signal(signal.SIGSTOP)
    waiting = [asyncio.create_task(process.ask([str(n)])) for n in range(MOST_WAITING + 2)]
    for _ in range(10):  # the first is taken, the last one waits for room
        await asyncio.sleep(0)
    with pytest.raises(EncoderFailed, match="too many"):
        await process.ask(["question"], first=True)
    child().send_signal(signal.SIGCONT)
    assert len(await asyncio.gather(*waiting)) == MOST_WAITING + 2


async def test_a_question_has_its_own_time(process: EncoderProcess) -> None:
    await process.ask(["a"])
    child().send_signal(signal.SIGSTOP)
    with pytest.raises(EncoderFailed, match=r"0\.05 seconds"):
        await process.ask(["a"], first=True, seconds=0.05)
    child().send_signal(signal.SIGCONT)
    assert len(await process.ask(["a"]))


async def test_it_gets_no_key(process: EncoderProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_EMBEDDING__API_KEY", "sesame")
    await process.ask(["a"])
    assert "sesame" not in child().environ().values()


def test_it_ends_with_its_parent(weights: Path) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path\n"
        "from tools.encoders.encoder_process import EncoderProcess\n"
        "async def main():\n"
        "    process = EncoderProcess(Path(sys.argv[1])); await process.ask(['a'])\n"
        "    print(process._process.pid, flush=True); await asyncio.sleep(600)\n"
        "asyncio.run(main())"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    parent = subprocess.Popen([sys.executable, "-c", program, str(weights)], stdout=subprocess.PIPE, env=environment)
    assert parent.stdout is not None
    encoding = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    encoding.wait(30)
    assert not encoding.is_running()
