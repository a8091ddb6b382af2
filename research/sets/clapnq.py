"""CLAPnq (Rosenthal et al. 2025): search questions, each with a passage that answers it or only appears to."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.cases import Case, DataSet, Document, Sentence, sentence_spans
from graph.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class CLAPnqQuestion:
    """A question with its passage, the passage's title, and whether the passage holds the answer.

    ``sentences`` are the passage's, in order; ``references`` holds, for each annotator, the indices of the sentences
    that support the answer. An answerable question may have none.
    """

    text: str
    title: str
    passage: str
    answerable: bool
    sentences: tuple[str, ...]
    references: tuple[frozenset[int], ...]


def load_clapnq(folder: Path) -> tuple[CLAPnqQuestion, ...]:
    """Read the answerable and the unanswerable questions of a folder. Raises InvalidRequest if a file is invalid."""
    questions: list[CLAPnqQuestion] = []
    for name, answerable in (("answerable", True), ("unanswerable", False)):
        path = folder / f"{name}.jsonl"
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            questions += [_question(json.loads(line), answerable) for line in lines]
        except OSError as error:
            raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise InvalidRequest(f"{path} is not a CLAPnq file: {error!r}.") from error
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


def clapnq_set(folder: Path) -> DataSet:
    """Read the set with each question asked of its own passage, selected as the only page.

    The reference answers are paragraphs in the annotators' own words, which no answer contains verbatim, so cases have
    no ``answers``. An answerable question without annotated sentences has no evidence. Raises InvalidRequest as
    ``load_clapnq`` does, and if a sentence is not in its passage.
    """
    return _data_set("clapnq", folder, selected=True)


def clapnq_open_set(folder: Path) -> DataSet:
    """Read the set with each question asked of all passages. Raises InvalidRequest as ``clapnq_set`` does."""
    return _data_set("clapnq-open", folder, selected=False)


def _data_set(name: str, folder: Path, *, selected: bool) -> DataSet:
    questions = load_clapnq(folder)
    documents = [_document(f"{number:04d}", question) for number, question in enumerate(questions, 1)]
    cases = [
        Case(
            case_id=document.name,
            question=question.text,
            expected="answered" if question.answerable else "abstained",
            evidence=tuple(frozenset(Sentence(document.name, i) for i in chosen) for chosen in question.references),
            pages=(document.name,) if selected else (),
            only_selected_pages=selected,
            removal=(document.name,) if question.answerable and not selected else (),
            tags={"language": "en", "kind": "answerable" if question.answerable else "unanswerable"},
        )
        for document, question in zip(documents, questions, strict=True)
    ]
    return DataSet(name, tuple(documents), tuple(cases))


def _document(name: str, question: CLAPnqQuestion) -> Document:
    try:
        given = tuple(sentence_spans(question.passage, question.sentences))
    except ValueError as error:
        raise InvalidRequest(f"CLAPnq: a sentence of {question.title!r} is not in its passage.") from error
    return Document(name, question.title, question.passage, given=given)
