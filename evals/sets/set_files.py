"""Helpers to read and validate a data set's files, and to turn answers into gold evidence.

Errors name the file, line and field.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from evals.cases import Document, Sentence
from graph.errors import InvalidRequest

Row = TypeVar("Row", bound=BaseModel)


def file_at(path: Path, name: str) -> Path:
    """Return the path of a file; for a folder, the file of that name in it."""
    return path / name if path.is_dir() else path


def text_of(file: Path) -> str:
    """Read a file. Raises InvalidRequest if it cannot be read as UTF-8 text."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{file} cannot be read as UTF-8 text.") from error


def rows_of_lines(file: Path, row: type[Row]) -> Iterator[tuple[str, Row]]:
    """Yield the rows of JSON lines, each with its location for messages. Raises InvalidRequest with line and field."""
    for number, line in enumerate(text_of(file).split("\n"), 1):
        if line.strip():
            where = f"{file}, line {number}"
            try:
                yield where, row.model_validate_json(line)
            except ValidationError as error:
                raise InvalidRequest(f"{where}: {first_fault(error, 'the line')}.") from error


def rows_of_array(file: Path, row: type[Row]) -> Iterator[tuple[str, Row]]:
    """Yield a JSON array's rows, each with its location for messages. Raises InvalidRequest with entry and field."""
    try:
        entries: Any = json.loads(text_of(file))
    except ValueError as error:
        raise InvalidRequest(f"{file} is not JSON: {error}.") from error
    if not isinstance(entries, list):
        raise InvalidRequest(f"{file} is not a JSON array.")
    for number, entry in enumerate(entries, 1):
        where = f"{file}, entry {number}"
        try:
            yield where, row.model_validate(entry)
        except ValidationError as error:
            raise InvalidRequest(f"{where}: {first_fault(error, 'the entry')}.") from error


def first_fault(error: ValidationError, whole: str) -> str:
    """Say the first fault of a row and the field that has it, or ``whole``."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or whole
    return f"{field}: {first['msg']}"


def sentences_over(document: Document, start: int, end: int) -> frozenset[Sentence]:
    """Return the sentences that a span overlaps, such as the one that contains an answer."""
    return frozenset(
        Sentence(document.name, index)
        for index, (first, last) in enumerate(document.spans)
        if first < end and start < last
    )


def answer_evidence(document: Document, answers: Iterable[str]) -> tuple[frozenset[Sentence], ...]:
    """Return an alternative set for each place where a document contains one of the answers, in any case."""
    places = {
        found.span() for answer in answers for found in re.finditer(re.escape(answer), document.text, re.IGNORECASE)
    }
    return tuple(dict.fromkeys(sentences_over(document, *place) for place in sorted(places)))
