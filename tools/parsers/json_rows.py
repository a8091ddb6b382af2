"""Parser of JSON: a row for each value with its path; the output of Document AI is known by its shape.

Numbers stay as they are written, and of names that stand twice in an object both are kept.
"""

import json
from typing import Any

from graph.errors import UnreadableDocument
from tools.parsers import document_ai
from tools.parsers.canonical_text import Parsed
from tools.parsers.plain import decode
from tools.parsers.value_rows import Members, Scalar, too_deep, written

_DOCUMENT_AI = frozenset({
    "text", "pages", "mimeType", "mime_type", "uri", "content", "entities", "entityRelations", "entity_relations",
    "textStyles", "text_styles", "textChanges", "text_changes", "revisions", "shardInfo", "shard_info", "error",
    "docid", "blobAssets", "blob_assets", "documentLayout", "document_layout", "chunkedDocument", "chunked_document",
})  # fmt: skip


def read(data: bytes) -> Parsed:
    """Parse JSON. Raises UnreadableDocument if it is broken, nested too deeply, or of too many values."""
    value = load_json(decode(data))
    if _is_document_ai(value):
        return document_ai.read(data)
    return written(value, "JSON")


def read_lines(data: bytes) -> Parsed:
    """Parse JSON Lines, a value on each line. Raises as ``read``."""
    records = []
    for number, line in enumerate(decode(data).split("\n"), start=1):
        if line.strip("\ufeff \t\r"):
            try:
                records.append(load_json(line))
            except UnreadableDocument as error:
                raise UnreadableDocument(f"Line {number}: {error.message}", suggestion=error.advice) from error
    return written(records, "JSON")


def load_json(text: str) -> Any:
    """Read JSON as text, lists, ``Members``, bool and None; numbers are ``Scalar``, as they are written.

    Raises UnreadableDocument if it is broken.
    """
    try:
        return json.loads(
            text.removeprefix("\ufeff"),
            strict=False,
            parse_int=Scalar,
            parse_float=Scalar,
            parse_constant=Scalar,
            object_pairs_hook=Members,
        )
    except RecursionError as error:
        raise too_deep("JSON") from error
    except ValueError as error:
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise UnreadableDocument(f"The JSON is broken{place}.", suggestion="Mend it, or save it as text.") from error


def _is_document_ai(value: Any) -> bool:
    inner = value.get("document") if isinstance(value, Members) else None
    value = inner if isinstance(inner, Members) else value
    if not isinstance(value, Members) or not isinstance(value.get("text"), str):
        return False
    return isinstance(value.get("pages"), list) or {name for name, _ in value} <= _DOCUMENT_AI
