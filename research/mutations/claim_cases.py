"""Claims paired with their evidence and what is known of them, read and written as JSON lines."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graph.errors import InvalidRequest

VERBATIM = "verbatim"


@dataclass(frozen=True, slots=True)
class ClaimCase:
    """A claim, what it is held against, and whether it follows. ``kind`` says how it was made, ``lang`` is ISO 639-1.

    A supported case of the kind ``verbatim`` stands in its evidence word for word; any other supported one is a
    paraphrase.
    """

    evidence: str
    claim: str
    lang: str
    kind: str
    supported: bool


_FIELDS: tuple[tuple[str, type], ...] = (
    ("evidence", str),
    ("claim", str),
    ("lang", str),
    ("kind", str),
    ("supported", bool),
)


def load_cases(path: Path) -> list[ClaimCase]:
    """Read a set; blank lines and further fields are passed over.

    Raises InvalidRequest where the file cannot be read or holds no case, naming the line and the field at fault.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"--path: {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"--path: {path} is not UTF-8 text.") from error
    # Only "\n" ends a row: the text of a claim may hold the other ends of line that splitlines() knows.
    cases = [_case(path, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not cases:
        raise InvalidRequest(f"--path: {path} holds no claim.")
    return cases


def write_cases(path: Path, cases: Iterable[ClaimCase]) -> None:
    """Write a set for people to read. Raises InvalidRequest where it cannot."""
    rows = "".join(json.dumps(asdict(case), ensure_ascii=False) + "\n" for case in cases)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(rows, encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"--write: {path} cannot be written: {error.strerror}.") from error


def _case(path: Path, number: int, line: str) -> ClaimCase:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidRequest(f"--path: {path}, line {number}: not JSON: {error}.") from error
    if not isinstance(row, dict):
        raise InvalidRequest(f"--path: {path}, line {number}: not a JSON object.")
    return ClaimCase(**{name: _field(row, name, kind, f"{path}, line {number}") for name, kind in _FIELDS})


def _field(row: Mapping[str, Any], name: str, kind: type, where: str) -> Any:
    if name not in row:
        raise InvalidRequest(f"--path: {where}: the field {name!r} is missing.")
    value = row[name]
    if not isinstance(value, kind):
        wanted = "true or false" if kind is bool else "text"
        raise InvalidRequest(f"--path: {where}: the field {name!r} must be {wanted}.")
    if isinstance(value, str) and not value.strip():
        raise InvalidRequest(f"--path: {where}: the field {name!r} is empty.")
    return value
