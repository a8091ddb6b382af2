"""A repository of a web host: git reads it through a proxy that leads to the checked address, and nowhere else."""

import asyncio
import shutil
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from graph.errors import DependencyFailed
from tools.library import git_reader
from tools.library.git_reader import GitReader
from tools.library.new_documents import NewDocument
from tools.web.guard import Guard

LAMP = b"The lamp of the lighthouse turns once in nine seconds."
SERVING = """
import http.server, os, ssl, subprocess, sys

class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        about = {"GIT_PROJECT_ROOT": sys.argv[1], "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                 "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                 "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        said = subprocess.run(["git", "http-backend"], env=os.environ | about, input=sent, capture_output=True).stdout
        head, _, body = said.partition(b"\\r\\n\\r\\n")
        self.send_response(200)
        for line in head.decode().splitlines():
            self.send_header(*line.split(": ", 1))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
"""


def certified(host: str, folder: Path) -> Path:
    """Write a key and a certificate of a host, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(key.private_bytes(*plain) + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def made_repository(folder: Path) -> Path:
    """Make a repository with one file."""
    folder.mkdir()
    (folder / "lamp.md").write_bytes(LAMP)
    person = ("-c", "user.name=Keeper", "-c", "user.email=keeper@example.org")
    for arguments in (("init",), ("add", "."), ("commit", "-m", "First")):
        subprocess.run(["git", *person, *arguments], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize("asked", ["git.example.com", "other.example.com"])
async def test_a_repository_of_a_host_is_read_at_the_address_that_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    repository = made_repository(tmp_path / "repository")
    certificate = certified("git.example.com", tmp_path)
    monkeypatch.setattr(git_reader, "_OPTIONS", [*git_reader._OPTIONS, f"http.sslCAInfo={certificate}"])
    command = [sys.executable, "-c", SERVING, str(tmp_path), str(certificate)]
    server = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
    assert server.stdout is not None
    port = int(await server.stdout.readline())

    async def resolve(name: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    guard = Guard(resolve=resolve, is_allowed=lambda address: True, ports=frozenset({port}))
    location = f"https://{asked}:{port}/{repository.name}/.git"
    reader = GitReader(location, cache=tmp_path / "cache", max_bytes=10_000, guard=guard)
    try:
        if asked == "git.example.com":
            [listed] = (await reader.listing()).files
            [read] = await reader.read([listed.path])
            assert isinstance(read, NewDocument)
            assert read.data == LAMP
        else:
            with pytest.raises(DependencyFailed, match="certificate"):
                await reader.listing()
    finally:
        await reader.close()
        server.terminate()
        await server.wait()
