"""Notifications by a real server of NATS, which is killed and comes back. `make test-engines` installs both."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.contract.carrier_kit import CarrierContract, Outage
from tests.engines.loopback_server import LoopbackServer
from tools.nats.nats_carrier import NatsCarrier

PROGRAM = shutil.which("nats-server")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="without its engine: `make test-engines` installs NATS")


def nats_server() -> LoopbackServer:
    return LoopbackServer("nats", [str(PROGRAM), "-a", "127.0.0.1", "-p", "{port}"])


class TestNats(CarrierContract):
    @pytest.fixture
    async def server(self) -> AsyncIterator[LoopbackServer]:
        server = nats_server()
        await server.start()
        yield server
        await server.kill()

    @pytest.fixture
    def carrier(self, server: LoopbackServer) -> NatsCarrier:
        return NatsCarrier(server.url)

    @pytest.fixture
    def runs(self, server: LoopbackServer) -> dict[str, Any]:
        return {"nats_url": server.url}

    @pytest.fixture
    def outage(self, server: LoopbackServer) -> Outage:
        @asynccontextmanager
        async def killed_for_a_while() -> AsyncIterator[None]:
            await server.kill()
            yield
            await asyncio.sleep(0.2)  # both try again, and find nobody
            await server.start()

        return killed_for_a_while
