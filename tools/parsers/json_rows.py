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


def read(data: bytes) -> Parsed:
    """Parse JSON. Raises UnreadableDocument if it is broken, nested too deeply, or of too many values."""
    value = load_json(decode(data))
    document = document_ai.document_in(value)
    return written(value, "JSON") if document is None else document_ai.read(document)


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
