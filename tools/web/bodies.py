"""Read the body of a reply up to a cap, on the wire and unpacked."""

import zlib

import httpx2

from graph.errors import WebUnavailable

TOO_LARGE = "it is too large"
_GZIP = 31  # zlib's window bits for a gzip header and the largest window


async def read_body(response: httpx2.Response, max_bytes: int) -> bytes:
    """Read a body as it is or packed by gzip, the one packing that is ever asked for.

    No more than ``max_bytes`` are taken from the wire, and no more are unpacked. Raises WebUnavailable where there is
    more, where the packing is another or broken, or the body ends early.
    """
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip"):
        raise WebUnavailable("it is packed in a way that was not asked for")
    declared = response.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > max_bytes:
        raise WebUnavailable(TOO_LARGE)
    unpacker = zlib.decompressobj(_GZIP) if packing.endswith("gzip") else None
    try:
        return await _read(response, unpacker, max_bytes)
    except httpx2.TransportError as error:
        raise WebUnavailable("the connection broke") from error
    except zlib.error as error:
        raise WebUnavailable("its packing is broken") from error


async def _read(response: httpx2.Response, unpacker: "zlib._Decompress | None", max_bytes: int) -> bytes:
    body = bytearray()
    received = 0
    async for data in response.aiter_raw():
        received += len(data)
        # One byte more than allowed tells that there is more; a limit of 0 would mean none.
        body += data if unpacker is None else unpacker.decompress(data, max_bytes + 1 - len(body))
        if received > max_bytes or len(body) > max_bytes:
            raise WebUnavailable(TOO_LARGE)
        if unpacker is not None and unpacker.eof:
            break
    if unpacker is not None and received and not unpacker.eof:
        raise WebUnavailable("its packing is broken")
    return bytes(body)
