import asyncio
import socket
from typing import Any

import pytest


@pytest.mark.parametrize("address", ["192.0.2.1", "example.org"])
async def test_nothing_reaches_beyond_this_machine(network_fuse: Any, address: str) -> None:
    with pytest.raises(ConnectionRefusedError, match="tests stay on this machine"):
        await asyncio.open_connection(address, 80)
    assert network_fuse.attempts == [address]
    network_fuse.attempts.clear()


def test_loopback_and_unix_sockets_pass(network_fuse: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
    with socket.socket(socket.AF_UNIX) as client, pytest.raises(FileNotFoundError):
        client.connect("/nowhere/at/all")
    assert network_fuse.attempts == []
