"""A server of milvus-lite on loopback, in a process of its own, which can be killed and comes back."""

import asyncio
import shutil
import signal
import socket
from pathlib import Path

PROGRAM = shutil.which("milvus-lite")


class MilvusServer:
    """Listens on the same port each time it is started, and keeps what it had."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self._process = await asyncio.create_subprocess_exec(
            *(str(PROGRAM), "server", "--data-dir", str(self._folder), "--host", "127.0.0.1", "--port", str(self.port)),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                if self._process.returncode is not None:
                    raise RuntimeError("milvus-lite ended") from None
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return

    async def kill(self) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
        await self._process.wait()
