"""RGB (Chen et al. 2023), counterfactual part: questions with true passages, falsified versions of them, and noise.

The data set holds only true passages and noise; ``research.rgb_measurement`` measures the effect of false ones.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.cases import Case, DataSet, Document
from evals.sets.set_files import answer_evidence, text_of
from graph.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class RGBQuestion:
    """A question with its passages. ``wrong`` pairs the index of a passage in ``true`` with its false version.

    ``answers`` are groups of wordings: a right answer contains one of each group. A file may lack them.
    """

    text: str
    true: tuple[str, ...]
    wrong: tuple[tuple[int, str], ...]
    noise: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]


def load_rgb(path: Path) -> tuple[RGBQuestion, ...]:
    """Read a ``*_fact.jsonl`` file; a false version that equals its true passage is left out.

    Raises InvalidRequest if the file cannot be read or is invalid, naming the line and the field.
    """
    questions = tuple(_question(path, number, row) for number, row in _rows(path, text_of(path)))
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
    return RGBQuestion(
        text, true, pairs, passages("negative"), _answers(row.get("answer", []), f"{path}, line {number}")
    )


def _answers(value: Any, where: str) -> tuple[tuple[str, ...], ...]:
    groups = [each if isinstance(each, list) else [each] for each in (value if isinstance(value, list) else [value])]
    if not all(isinstance(wording, str) and wording for group in groups for wording in group):
        raise InvalidRequest(f"{where}: the field 'answer' must be a text, texts, or lists of texts.")
    return tuple(tuple(dict.fromkeys(group)) for group in groups if group)


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()


def rgb_set(path: Path) -> DataSet:
    """Read one language's ``*_fact.jsonl``, or all of a folder; questions are asked over all passages without repeats.

    A passage is not an article, so its title is a number. Each place where a true passage states the answer is an
    alternative set of evidence. Without a question's true passages only noise is left, and no answer. If an answer
    needs several facts, like one of the Chinese ones, no single text makes it right and the question has no
    ``answers``. Raises InvalidRequest as ``load_rgb`` does.
    """
    files = sorted(path.glob("*_fact.jsonl")) if path.is_dir() else [path]
    if not files:
        raise InvalidRequest(f"{path} holds no *_fact.jsonl.")
    documents: dict[str, Document] = {}
    cases: list[Case] = []
    for file in files:
        language = file.stem.removesuffix("_fact")
        questions = load_rgb(file)
        passages = dict.fromkeys(text for question in questions for text in (*question.true, *question.noise))
        for number, text in enumerate(passages, 1):
            documents.setdefault(text, Document(f"{language}/{number:04d}", f"Passage {number}", text))
        for number, question in enumerate(questions, 1):
            true = [documents[text] for text in dict.fromkeys(question.true)]
            wordings = [wording for group in question.answers for wording in group]
            evidence = [chosen for document in true for chosen in answer_evidence(document, wordings)]
            cases.append(
                Case(
                    case_id=f"{language}/{number:04d}",
                    question=question.text,
                    answers=question.answers[0] if len(question.answers) == 1 else (),
                    evidence=tuple(dict.fromkeys(evidence)),
                    accepted=frozenset(sentence for chosen in evidence for sentence in chosen),
                    removal=tuple(document.name for document in true),
                    tags={"language": language},
                )
            )
    name = "rgb" if path.is_dir() else f"rgb-{path.stem.removesuffix('_fact')}"
    return DataSet(name, tuple(documents.values()), tuple(cases))
