"""Parser of Document AI JSON: its ``text``, composed, is the canonical text; anchors point into it.

Each paragraph is a segment of its own, so that a client's index of paragraphs is that of segments.

Both spellings are supported: ``textAnchor.textSegments[].startIndex`` of the JSON files (indices as strings, zeros
omitted) and ``text_anchor.text_segments[].start_index`` of the Python client. Indices count code points.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unicodedata import category

from graph.errors import UnreadableDocument
from text.sentences import trimmed
from tools.parsers.canonical_text import Block, Parsed, composed, paragraphs
from tools.parsers.plain import read_text
from tools.parsers.value_rows import Members, Scalar

_NOT_ASCII = re.compile(r"[\x01-\x7f]?[^\x01-\x7f]+")
_LAYERS = ("paragraphs", "blocks", "lines")


_KEYS = frozenset({
    "text", "pages", "mimeType", "mime_type", "uri", "content", "entities", "entityRelations", "entity_relations",
    "textStyles", "text_styles", "textChanges", "text_changes", "revisions", "shardInfo", "shard_info", "error",
    "docid", "blobAssets", "blob_assets", "documentLayout", "document_layout", "chunkedDocument", "chunked_document",
})  # fmt: skip


def document_in(value: Any) -> Members | None:
    """Return the document of Document AI that JSON is, by its shape; None for any other JSON."""
    inner = value.get("document") if isinstance(value, Members) else None
    value = inner if isinstance(inner, Members) else value
    if not isinstance(value, Members) or not isinstance(value.get("text"), str):
        return None
    is_one = isinstance(value.get("pages"), list) or {name for name, _ in value} <= _KEYS
    return value if is_one else None


def read(document: Members) -> Parsed:
    """Parse the output of Document AI. Raises UnreadableDocument for anchors that are no numbers."""
    return _Anchored(document.get("text")).read(document.get("pages") or [])


class _Anchored:
    """A text that anchors point into. Canonical text omits NULs and composes letters, so later offsets shift."""

    def __init__(self, text: str) -> None:
        self.text = composed(text)
        self._original = len(text)
        self._ends, self._shifts = [0], [0]  # of letters that are shorter, and by how much all so far are
        for start, end in _letters(text) if self.text != text else ():
            if shorter := end - start - len(composed(text[start:end])):
                self._ends.append(end)
                self._shifts.append(self._shifts[-1] + shorter)

    def read(self, pages: list[Any]) -> Parsed:
        try:
            blocks = sorted(self._blocks(pages), key=lambda block: (block.start, block.end))
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
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
            number = _number(_either(page, "pageNumber", "page_number")) or position + 1
            layouts = next((parts for layer in _LAYERS if (parts := page.get(layer))), None)
            for part in layouts or []:
                for start, end in self._spans(part):
                    yield Block(start, end, "paragraph", page_idx=number - 1)
            for start, end in self._spans(page) if layouts is None else ():
                yield from self._on_page(start, end, number - 1)

    def _on_page(self, start: int, end: int, page_idx: int | None) -> list[Block]:
        return [replace(block, page_idx=page_idx) for block in paragraphs(self.text, start, end, None)]

    def _spans(self, part: Members) -> Iterator[tuple[int, int]]:
        anchor = _either(part.get("layout") or part, "textAnchor", "text_anchor") or Members()
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
        original = min(max(_number(index), 0), self._original)
        after = bisect_right(self._ends, original)
        within = [self._ends[after] - self._shifts[after]] if after < len(self._ends) else []
        return min([original - self._shifts[after - 1], *within])


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of letters beyond ASCII, each with the ASCII letter or the NULs before it and all its marks."""
    for run in _NOT_ASCII.finditer(text):
        start = run.start()
        for at in range(start + 1, run.end()):
            letter = text[at]
            if letter != "\0" and not "\u1160" <= letter <= "\u11ff" and category(letter)[0] != "M":
                yield start, at
                start = at
        yield start, run.end()


def _either(part: Members, camel: str, snake: str) -> Any:
    value = part.get(camel)
    return part.get(snake) if value is None else value


def _number(value: Any) -> int:
    """Return a number as JSON writes it, as a string or not; what is behind its point is dropped."""
    text = value.text if isinstance(value, Scalar) else value or "0"
    return int(text) if text.isdecimal() else int(float(text))
