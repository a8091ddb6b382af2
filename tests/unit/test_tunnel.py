"""What a program fetches through the tunnel to one address, without the loop of the service."""

import http.client
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import httpx2
import pytest

from tools.web.guard import Target
from tools.web.tunnel import opened_tunnel

BODY = b"pack" * 500_000


class Host(BaseHTTPRequestHandler):
    """Answers with a large body."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Host) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


async def test_a_large_body_comes_while_the_loop_does_something_else(port: int) -> None:
    target = Target(httpx2.URL(f"http://host.example:{port}"), ("127.0.0.1",))
    async with opened_tunnel(target) as proxy:
        program = http.client.HTTPConnection("127.0.0.1", httpx2.URL(proxy).port, timeout=20)
        program.set_tunnel("host.example", port)
        program.request("GET", "/")
        assert program.getresponse().read() == BODY  # without a turn of this loop
        program.close()
    with pytest.raises(ConnectionRefusedError):
        program.connect()
