"""Parser of Document AI JSON: its ``text`` is the canonical text; anchors of pages and paragraphs point into it.

Each paragraph is a segment of its own, so that a client's index of paragraphs is that of segments.

Both spellings are supported: ``textAnchor.textSegments[].startIndex`` of the JSON files (indices as strings, zeros
omitted) and ``text_anchor.text_segments[].start_index`` of the Python client. Indices count code points.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from graph.errors import UnreadableDocument
from text.sentences import trimmed
from tools.parsers.canonical_text import Block, Parsed, storable
from tools.parsers.plain import decode, paragraphs, read_text

_LAYERS = ("paragraphs", "blocks", "lines")


def read(data: bytes) -> Parsed:
    """Parse the output of Document AI. Raises UnreadableDocument for other JSON or non-numeric anchors."""
    try:
        document = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise UnreadableDocument("The JSON is broken.") from error
    if isinstance(document, dict) and isinstance(document.get("document"), dict):
        document = document["document"]
    if not isinstance(document, dict) or not isinstance(document.get("text"), str):
        raise UnreadableDocument("The JSON is not a Document AI document: it has no text.")
    return _Anchored(document["text"]).read(document.get("pages") or [])


class _Anchored:
    """A text that anchors point into. Offsets after a NUL shift, since canonical text omits NULs."""

    def __init__(self, text: str) -> None:
        self._original = len(text)
        self._nuls = [nul.start() for nul in re.finditer("\x00", text)]
        self.text = storable(text)

    def read(self, pages: list[Any]) -> Parsed:
        try:
            blocks = sorted(self._blocks(pages), key=lambda block: (block.start, block.end))
        except (TypeError, ValueError, AttributeError) as error:
            raise UnreadableDocument("The text anchors of the Document AI JSON cannot be read.") from error
        if not blocks:
            return read_text(self.text)
        separate: list[Block] = []
        reached = 0
        page_idx = blocks[0].page_idx
        for block in blocks:
            separate += self._on_page(reached, block.start, page_idx)  # text without an anchor
            start, end = trimmed(self.text, max(block.start, reached), block.end)
            page_idx = block.page_idx
            if start < end:
                separate.append(Block(start, end, "paragraph", page_idx=page_idx))
            reached = max(reached, block.end)
        rest = self._on_page(reached, len(self.text), page_idx)
        return Parsed(self.text, (*separate, *rest), whole_blocks=True)

    def _blocks(self, pages: list[Any]) -> Iterator[Block]:
        for position, page in enumerate(pages):
            number = int(_either(page, "pageNumber", "page_number") or position + 1)
            layouts = next((page[layer] for layer in _LAYERS if page.get(layer)), None)
            for part in layouts or []:
                for start, end in self._spans(part):
                    yield Block(start, end, "paragraph", page_idx=number - 1)
            for start, end in self._spans(page) if layouts is None else ():
                yield from self._on_page(start, end, number - 1)

    def _on_page(self, start: int, end: int, page_idx: int | None) -> list[Block]:
        return [replace(block, page_idx=page_idx) for block in paragraphs(self.text, start, end, None)]

    def _spans(self, part: dict[str, Any]) -> Iterator[tuple[int, int]]:
        anchor = _either(part.get("layout") or part, "textAnchor", "text_anchor") or {}
        segments = _either(anchor, "textSegments", "text_segments") or []
        spans = [
            (self._at(_either(each, "startIndex", "start_index")), self._at(_either(each, "endIndex", "end_index")))
            for each in segments
        ]
        for start, end in spans:
            if start < end:
                yield start, end

    def _at(self, index: Any) -> int:
        """Return the canonical offset of an index; one beyond the text points into another shard and is clamped."""
        original = min(max(int(index or 0), 0), self._original)
        return original - bisect_left(self._nuls, original)


def _either(part: dict[str, Any], camel: str, snake: str) -> Any:
    return part[camel] if camel in part else part.get(snake)
