"""A loopback server that speaks as much of S3 as a store of originals asks: put, get, head, delete and list."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_LIST = (
    '<?xml version="1.0"?><ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated>{}</ListBucketResult>'
)
_ENTRY = (
    "<Contents><Key>{key}</Key><Size>{size}</Size><ETag>{tag}</ETag>"
    "<LastModified>2026-01-01T00:00:00.000Z</LastModified><StorageClass>STANDARD</StorageClass></Contents>"
)
_MISSING = b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>gone</Message></Error>'
_REFUSED = b'<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>'


class _Bucket:
    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def answer(
        self, method: str, target: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(target)
        key = unquote(parts.path).removeprefix("/bucket").lstrip("/")
        if "/403/" in f"/{key}":
            return 403, {}, _REFUSED
        if method == "POST" and not key:
            gone = re.findall(r"<Key>([^<]+)</Key>", body.decode())
            for name in gone:
                self.objects.pop(name, None)
            told = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in gone)
            return 200, {"content-type": "application/xml"}, f"<DeleteResult>{told}</DeleteResult>".encode()
        if not key:
            prefix = parse_qs(parts.query).get("prefix", [""])[0]
            entries = [
                _ENTRY.format(key=escape(name), size=len(data), tag="x")
                for name, data in self.objects.items()
                if name.startswith(prefix)
            ]
            return 200, {"content-type": "application/xml"}, _LIST.format("".join(entries)).encode()
        if method == "PUT":
            self.objects[key] = body
            return 200, _tag(body), b""
        if method == "DELETE":
            self.objects.pop(key, None)
            return 204, {}, b""
        if key not in self.objects:
            return 404, {"content-type": "application/xml"}, _MISSING
        data = self.objects[key]
        told = {**_tag(data), "last-modified": formatdate(0, usegmt=True)}
        if span := re.fullmatch(r"bytes=(\d+)-(\d+)", headers.get("range", "")):
            first, last = int(span[1]), min(int(span[2]), len(data) - 1)
            return 206, {**told, "content-range": f"bytes {first}-{last}/{len(data)}"}, data[first : last + 1]
        return 200, told, data

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
                method, target, _ = first.split(" ")
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                status, told, sent = self.answer(method, target, headers, body)
                told = {**told, "content-length": str(len(sent))}
                head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
                writer.write(f"HTTP/1.1 {status} Scripted\r\n{head}\r\n".encode() + (b"" if method == "HEAD" else sent))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client is gone
        finally:
            writer.close()


def _tag(data: bytes) -> dict[str, str]:
    return {"etag": f'"{hashlib.md5(data).hexdigest()}"'}


@asynccontextmanager
async def serve_s3() -> AsyncIterator[str]:
    """Serve a bucket named ``bucket``; give the server's address."""
    bucket = _Bucket()
    listening = await asyncio.start_server(bucket.handle, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
