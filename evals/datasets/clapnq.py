"""CLAPnq (Rosenthal et al. 2025): search questions, each with a passage that answers it or only seems to."""

import json
from dataclasses import dataclass
from pathlib import Path

from graph.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class CLAPnqQuestion:
    """A question with its passage, the passage's title, and whether the passage holds the answer."""

    text: str
    title: str
    passage: str
    answerable: bool


def load_clapnq(folder: Path) -> tuple[CLAPnqQuestion, ...]:
    """Read the answerable and the unanswerable questions of a folder. Raises InvalidRequest where it cannot."""
    questions: list[CLAPnqQuestion] = []
    for name, answerable in (("answerable", True), ("unanswerable", False)):
        path = folder / f"{name}.jsonl"
        try:
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                passage = row["passages"][0]
                questions.append(CLAPnqQuestion(row["input"], passage["title"], passage["text"], answerable))
        except OSError as error:
            raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
        except (ValueError, KeyError, IndexError) as error:
            raise InvalidRequest(f"{path} is no CLAPnq file: {error!r}.") from error
    return tuple(questions)
