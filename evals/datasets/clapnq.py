"""CLAPnq (Rosenthal et al. 2025): search questions, each with a passage that answers it or only seems to."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class CLAPnqQuestion:
    """A question with its passage, the passage's title, and whether the passage holds the answer.

    ``sentences`` are the passage's own, in order; ``references`` holds, for each annotator, the indices of those that
    the answer rests on. An answerable question may come without any.
    """

    text: str
    title: str
    passage: str
    answerable: bool
    sentences: tuple[str, ...]
    references: tuple[frozenset[int], ...]


def load_clapnq(folder: Path) -> tuple[CLAPnqQuestion, ...]:
    """Read the answerable and the unanswerable questions of a folder. Raises InvalidRequest where it cannot."""
    questions: list[CLAPnqQuestion] = []
    for name, answerable in (("answerable", True), ("unanswerable", False)):
        path = folder / f"{name}.jsonl"
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            questions += [_question(json.loads(line), answerable) for line in lines]
        except OSError as error:
            raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise InvalidRequest(f"{path} is no CLAPnq file: {error!r}.") from error
    return tuple(questions)


def _question(row: dict[str, Any], answerable: bool) -> CLAPnqQuestion:
    passage = row["passages"][0]
    sentences = tuple(passage["sentences"])
    references = (
        frozenset(sentences.index(selected) for selected in answer.get("selected_sentences", ()))
        for answer in row["output"]
    )
    return CLAPnqQuestion(
        text=row["input"],
        title=passage["title"],
        passage=passage["text"],
        answerable=answerable,
        sentences=sentences,
        references=tuple(reference for reference in references if reference),
    )
