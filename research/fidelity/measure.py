"""Measure a folder of files, and show the figures of each format as a table in Markdown."""

import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from graph.errors import CitewellError
from research.fidelity.comparison import Compared, compare
from research.fidelity.furniture import furniture_of
from research.fidelity.readers import READERS, readings, wait
from tools.parsers import Parsed, parse

SECONDS = 180  # for our reading of one file
_NOT_TEXT = re.compile(r"running head|page number|picture|image|navigation|empty", re.IGNORECASE)
_OF_ONE = (6, 40)  # numbers and words that one thing that was left out may hold
HEAD = (
    "Format | files | refused | failed | numbers | lost /1,000 | told | made up /1,000 | flattened /1,000 | furniture"
    " | words | lost % | made up % | order %"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A file, why it was not read if it was not, what we say was left out, and how it compares."""

    name: str
    format: str
    problem: str
    failed: bool
    left_out: tuple[str, ...]
    compared: Compared


def measure(folder: Path, formats: Sequence[str] = (), kept: Path | None = None) -> Iterator[Measured]:
    """Read every file of a folder and compare; a file that no other reader finds text in is passed over."""
    wanted = {f".{name.lstrip('.')}" for name in formats} or set(READERS)
    kept = kept or folder / ".readings"
    paths = [path for path in folder.rglob("*") if path.suffix.lower() in wanted & set(READERS) and path.is_file()]
    wait(paths, kept)
    for path in sorted(paths, key=lambda path: path.stat().st_size):
        others = readings(path, kept)
        if others:
            yield _measured(path, others)


def _measured(path: Path, others: dict[str, list[str]]) -> Measured:
    kind = path.suffix[1:].lower()
    try:
        parsed = _parsed(path)
    except CitewellError as problem:
        return Measured(path.name, kind, str(problem), False, (), Compared())
    except Exception as problem:  # noqa: BLE001, a parser that fails is what is looked for
        return Measured(path.name, kind, f"{type(problem).__name__}: {problem}", True, (), Compared())
    compared = compare(pages_of(parsed), others, furniture_of(path, others))
    _excuse(compared, parsed.left_out)
    return Measured(path.name, kind, "", False, parsed.left_out, compared)


def _parsed(path: Path) -> Parsed:
    def late(*_: object) -> None:
        raise TimeoutError(f"not read in {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        return parse(path.read_bytes(), name=path.name)
    finally:
        signal.alarm(0)


def pages_of(parsed: Parsed) -> list[str]:
    """Return the text of each page of a PDF; of any other file, all of it as one."""
    if not parsed.page_count or parsed.media_type != "application/pdf":
        return [parsed.text]
    pages = [""] * parsed.page_count
    for block in parsed.blocks:
        pages[block.page_idx or 0] += parsed.text[block.start : block.end] + "\n"
    return pages


def _excuse(compared: Compared, left_out: Sequence[str]) -> None:
    """Count as told what is lost, as far as the things that were told to be left out may hold it."""
    numbers = words = 0
    for told in left_out:
        if not _NOT_TEXT.search(told):
            count = sum(int(count.replace(",", "")) for count in re.findall(r"\d[\d,]*", told)) or 1
            numbers += count * (1 if "word" in told else _OF_ONE[0])
            words += count * (1 if "word" in told else _OF_ONE[1])
    compared.numbers_told = min(compared.numbers_lost, numbers)
    compared.words_told = min(compared.words_lost, words)
    compared.numbers_lost -= compared.numbers_told
    compared.words_lost -= compared.words_told


def table(measured: Sequence[Measured]) -> str:
    """Return the figures of each format, as a table in Markdown."""
    rows = [f"| {HEAD} |", "|" + "---|" * (HEAD.count("|") + 1)]
    for kind in sorted({file.format for file in measured}):
        rows.append(f"| {' | '.join(_row(kind, [file for file in measured if file.format == kind]))} |")
    return "\n".join(rows)


def _row(kind: str, files: list[Measured]) -> Iterator[str]:
    total = {
        name.name: sum(getattr(file.compared, name.name) for file in files)
        for name in fields(Compared)
        if name.name != "examples"
    }
    thousand, hundred = 1000 / max(total["numbers"], 1), 100 / max(total["words"], 1)
    yield kind
    yield str(len(files))
    yield str(sum(bool(file.problem) and not file.failed for file in files))
    yield str(sum(file.failed for file in files))
    yield f"{total['numbers']:,}"
    yield f"{total['numbers_lost'] * thousand:.2f}"
    yield str(total["numbers_told"])
    yield f"{total['numbers_made_up'] * thousand:.2f}"
    yield f"{total['flattened'] * thousand:.2f}"
    yield f"{total['furniture']:,}"
    yield f"{total['words']:,}"
    yield f"{total['words_lost'] * hundred:.3f}"
    yield f"{total['words_made_up'] * hundred:.3f}"
    yield f"{100 * total['in_order'] / max(total['ordered'], 1):.2f}"


def as_rows(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return the figures and the examples of each file."""
    return [asdict(file) for file in measured]
