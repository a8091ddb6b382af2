"""A server of milvus-lite."""

import shutil
from pathlib import Path

from tests.engines.loopback_server import LoopbackServer

PROGRAM = shutil.which("milvus-lite")


def milvus_server(folder: Path) -> LoopbackServer:
    """Return a server that keeps what it has in a folder."""
    host = ["--host", "127.0.0.1", "--port", "{port}"]
    return LoopbackServer("http", [str(PROGRAM), "server", "--data-dir", str(folder), *host])
