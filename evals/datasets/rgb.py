"""RGB (Chen et al. 2023), counterfactual part: questions with true passages, the same made false, and noise."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class RGBQuestion:
    """A question with its passages. ``wrong`` pairs a true passage's place among ``true`` with its false version."""

    text: str
    true: tuple[str, ...]
    wrong: tuple[tuple[int, str], ...]
    noise: tuple[str, ...]


def load_rgb(path: Path) -> tuple[RGBQuestion, ...]:
    """Read a ``*_fact.jsonl`` file; a false version that says what its true passage says is left out.

    Raises InvalidRequest where the file cannot be read, naming the line and the field at fault.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is not UTF-8 text.") from error
    questions = tuple(_question(path, number, row) for number, row in _rows(path, text))
    if not questions:
        raise InvalidRequest(f"{path} holds no question.")
    return questions


def _rows(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InvalidRequest(f"{path}, line {number}: not JSON: {error}.") from error
        if not isinstance(row, dict):
            raise InvalidRequest(f"{path}, line {number}: not a JSON object.")
        yield number, row


def _question(path: Path, number: int, row: Mapping[str, Any]) -> RGBQuestion:
    def passages(name: str) -> tuple[str, ...]:
        value = row.get(name)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InvalidRequest(f"{path}, line {number}: the field {name!r} must be a list of texts.")
        return tuple(value)

    text = row.get("query")
    if not isinstance(text, str) or not text.strip():
        raise InvalidRequest(f"{path}, line {number}: the field 'query' must be text.")
    true, wrong = passages("positive"), passages("positive_wrong")
    if len(true) != len(wrong):
        raise InvalidRequest(f"{path}, line {number}: the field 'positive_wrong' must match 'positive' one to one.")
    pairs = tuple(
        (index, false)
        for index, (right, false) in enumerate(zip(true, wrong, strict=True))
        if _plain(right) != _plain(false)
    )
    return RGBQuestion(text, true, pairs, passages("negative"))


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()
