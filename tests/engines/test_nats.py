"""Notifications by a real server of NATS, which is killed and comes back. `make test-engines` installs both."""

import asyncio
import shutil
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.contract.carrier_kit import CarrierContract, Outage
from tools.runs.carriers import NatsCarrier

PROGRAM = shutil.which("nats-server")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="without its engine: `make test-engines` installs NATS")


class NatsServer:
    """A server of NATS on loopback, on the same port each time it is started."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"nats://127.0.0.1:{self.port}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self._process = await asyncio.create_subprocess_exec(
            *(str(PROGRAM), "-a", "127.0.0.1", "-p", str(self.port)),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                await asyncio.sleep(0.01)
            else:
                writer.close()
                return

    async def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()


class TestNats(CarrierContract):
    @pytest.fixture
    async def server(self) -> AsyncIterator[NatsServer]:
        server = NatsServer()
        await server.start()
        yield server
        await server.kill()

    @pytest.fixture
    def carrier(self, server: NatsServer) -> NatsCarrier:
        return NatsCarrier(server.url)

    @pytest.fixture
    def runs(self, server: NatsServer) -> dict[str, Any]:
        return {"nats_url": server.url}

    @pytest.fixture
    def outage(self, server: NatsServer) -> Outage:
        @asynccontextmanager
        async def killed_for_a_while() -> AsyncIterator[None]:
            await server.kill()
            yield
            await asyncio.sleep(0.2)  # both try again, and find nobody
            await server.start()

        return killed_for_a_while
