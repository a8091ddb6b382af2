"""What a process that reads files does with one: read it to store it, unpack it, lay it out, or find a place in it.

Each task gets the fields of its order, the bytes that came with it, and ``send`` for frames before its reply.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, Protocol

from graph.errors import CitewellError, InvalidRequest
from tools.confinement.process import confinement
from tools.library.drawn_formulas import drawn_in
from tools.library.drawn_pictures import placed_pictures
from tools.library.drawn_slides import slides_of
from tools.library.new_documents import documents_in
from tools.library.reading import Reading, WiredDocument, read_document
from tools.parsers.canonical_text import storable

Frame = tuple[dict[str, Any], list[bytes]]
Task = Literal["document", "unpack", "layout", "place", "addresses", "sitemap", "json", "confinement"]


class Send(Protocol):
    """Sends a frame: ``{"progress": [done, of]}``, or ``{"part": ...}`` with the bytes of a part of the reply."""

    def __call__(self, header: dict[str, Any], *blobs: bytes) -> None:
        """Send a frame."""


def _document(header: dict[str, Any], blobs: Sequence[bytes], send: Send) -> Frame:
    how = Reading(**header.pop("how"))
    wired = WiredDocument(data=blobs[0], **header)
    file = read_document(wired, how, lambda done, of: send({"progress": [done, of]}))
    ready, packed = file.ready, file.packed
    reply = {
        "content_hash": ready.content_hash,
        "fields": asdict(replace(ready.fields, expires_at=None)),
        "warnings": ready.warnings,
    }
    if packed is None:
        return reply, []
    listed = ["\0".join(each).encode() for each in (packed.words, file.texts)]  # no text that is stored has a NUL
    return {**reply, "segments": packed.segments}, [packed.rows, packed.terms.packed(), packed.vectors, *listed]


def _unpack(header: dict[str, Any], blobs: Sequence[bytes], send: Send) -> Frame:
    """Send the files of an archive as parts, each with its path, or none where it is a document itself."""
    max_bytes = header.pop("max_bytes")
    new = WiredDocument(data=blobs[0], **header).document()
    is_archive = False
    for path, each in documents_in(new, max_bytes=max_bytes):
        is_archive |= bool(path)
        if isinstance(each, CitewellError):
            send({"part": {"path": path, "error": [each.code, each.message, each.advice]}}, b"")
        elif path:
            send({"part": {"path": path}}, each.data or b"")
    return {"is_archive": is_archive}, []


def _layout(header: dict[str, Any], blobs: Sequence[bytes], _: Send) -> Frame:
    data, text, blocks = blobs[0], blobs[1].decode(), [json.loads(line) for line in blobs[2].splitlines()]
    media_type = header["media_type"]
    reply, pictures = placed_pictures(data, media_type, text, blocks)
    slides, fault = [], ""
    try:
        for slide in slides_of(data, media_type, text, blocks):
            slides.append(slide)
    except Exception as error:  # noqa: BLE001 - whatever it is, the pictures and formulas of the file are told
        fault = f"{type(error).__name__}: {error}"
    return {**reply, **drawn_in(data, media_type, text), "slides": slides, "fault": fault}, pictures


def _place(header: dict[str, Any], blobs: Sequence[bytes], _: Send) -> Frame:
    from tools.parsers.pdf_places import find_boxes  # with PDFium, which other files don't need

    place = find_boxes(blobs[0], header["page_idx"], header["quote"], header["before"])
    return {"place": None if place is None else asdict(place)}, []


def _addresses(header: dict[str, Any], blobs: Sequence[bytes], _: Send) -> Frame:
    from tools.web.named_addresses import addresses_of  # with lxml

    return {"addresses": addresses_of(blobs[0], header["address"])}, []


def _sitemap(header: dict[str, Any], blobs: Sequence[bytes], _: Send) -> Frame:
    from tools.web.named_addresses import sitemap_entries  # with lxml

    return {"entries": sitemap_entries(blobs[0], header["max_bytes"])}, []


def _json(header: dict[str, Any], blobs: Sequence[bytes], _: Send) -> Frame:
    try:
        fields = json.loads(blobs[0])
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise InvalidRequest("body: must be a JSON object.")
    text = fields.pop("text", None)
    rest = json.dumps(fields).encode()
    if len(rest) > header["most_bytes"] or not isinstance(text, str | None):
        raise InvalidRequest(f"body: at most {header['most_bytes']:,} bytes beside its text.")
    return {"has_text": text is not None}, [rest, storable(text or "").encode()]


def _confinement(_: dict[str, Any], __: Sequence[bytes], ___: Send) -> Frame:
    return asdict(confinement()), []


TASKS: dict[Task, Callable[[dict[str, Any], Sequence[bytes], Send], Frame]] = {
    "document": _document,
    "unpack": _unpack,
    "layout": _layout,
    "place": _place,
    "addresses": _addresses,
    "sitemap": _sitemap,
    "json": _json,
    "confinement": _confinement,
}
