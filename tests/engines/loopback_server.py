"""A server of an engine on loopback, in a process of its own, which can be killed and comes back."""

import asyncio
import signal
import socket
from collections.abc import Sequence


class LoopbackServer:
    """Listens on the same port each time it is started; ``command`` gets that port for ``{port}``."""

    def __init__(self, scheme: str, command: Sequence[str]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        self.url = f"{scheme}://127.0.0.1:{port}"
        self._port = port
        self._command = [part.format(port=port) for part in command]
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:
                if self._process.returncode is not None:
                    raise RuntimeError(f"{self._command[0]} ended") from None
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return

    async def kill(self) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
        await self._process.wait()
