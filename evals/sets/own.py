"""A user's own data set: a folder with documents and questions, explained by example in docs/evaluation.md.

``library/`` holds files of any format that Citewell reads; a document's name is its path below it, without the
suffix. ``documents.jsonl`` may hold more, one ``{"name", "title", "text"}`` per line. Every ``questions*.jsonl`` is
read. Gold evidence is quoted: a quote must be one or several consecutive whole sentences of its document's canonical
text.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from evals.cases import Case, DataSet, Document, PlantedSentence, Sentence
from evals.sets.set_files import rows_of_lines
from graph.errors import InvalidRequest, UnreadableDocument
from tools.library.found_files import find_files
from tools.parsers import formats, parse

_ROW = re.compile(r"\s*\|(?P<cells>[^\n]+)\|\s*")


class QuotedSentence(BaseModel, extra="forbid"):
    """Evidence as a quote from a document."""

    document: str
    quote: Annotated[str, Field(min_length=1)]


class Planted(BaseModel, extra="forbid"):
    """A sentence that `--planted` adds to the answer, and whether the library bears it."""

    text: Annotated[str, Field(min_length=1)]
    faithful: bool = False


class Question(BaseModel, extra="forbid"):
    """A line of a questions file; see ``evals.cases.Case`` for the fields."""

    id: Annotated[str, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    expected: Literal["answered", "abstained"] = "answered"
    answers: list[str] = []
    evidence: list[list[QuotedSentence]] = []
    accepted: list[QuotedSentence] = []
    planted: list[Planted] = []
    before: list[str] = []
    pages: list[str] = []
    only_selected_pages: bool = False
    paired: bool = False
    language: str = ""
    kind: str = ""
    topic_change: bool = False
    note: str = ""


class WrittenDocument(BaseModel, extra="forbid"):
    """A line of ``documents.jsonl``."""

    name: Annotated[str, Field(min_length=1)]
    title: str = ""
    text: Annotated[str, Field(min_length=1)]


def load_own(folder: Path, *, more: tuple[Document, ...] = ()) -> DataSet:
    """Read a folder, and add ``more`` documents to its library.

    Raises InvalidRequest naming the invalid file, line and field: no questions, a document that is missing or cannot
    be read, or a quote that is not a whole sentence of its document.
    """
    documents = (*more, *_files(folder / "library"), *_written(folder / "documents.jsonl"))
    by_name = {document.name: document for document in documents}
    files = sorted(folder.glob("questions*.jsonl"))
    if not files:
        raise InvalidRequest(f"{folder} holds no questions*.jsonl.")
    cases = [_case(question, by_name, where) for file in files for where, question in rows_of_lines(file, Question)]
    if not cases:
        raise InvalidRequest(f"{folder}: there is no question in its questions*.jsonl.")
    return DataSet(folder.resolve().name, documents, tuple(cases))


def read_document(path: Path, name: str) -> Document:
    """Read a file as a document. Raises InvalidRequest if it cannot be read."""
    try:
        data = path.read_bytes()
        parsed = parse(data, name=path.name)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
    except UnreadableDocument as error:
        raise InvalidRequest(f"{path}: {error.message}") from error
    return Document(name, parsed.title or path.stem, parsed.text, data=data, file_name=path.name)


def sentences_of(document: Document, quote: str) -> tuple[Sentence, ...]:
    """Return the sentences of a quote; none if it is not exactly one or several consecutive sentences.

    A row of a table is one sentence; it may be quoted with bars around it, as Markdown has it, or without.
    """
    if (row := _ROW.fullmatch(quote)) is not None:
        quote = " | ".join(cell.strip() for cell in row["cells"].split("|")).strip()
    start = document.text.find(quote)
    while start >= 0:
        end = start + len(quote)
        within = [
            i for i, (first, last) in enumerate(document.spans) if first >= start and last <= end and first < last
        ]
        if within and document.spans[within[0]][0] == start and document.spans[within[-1]][1] == end:
            return tuple(Sentence(document.name, index) for index in within)
        start = document.text.find(quote, start + 1)
    return ()


def _files(library: Path) -> Iterator[Document]:
    if library.is_dir():
        for file in find_files([library]):
            if file.path.suffix.lower() in formats().suffixes:
                yield read_document(file.path, file.path.relative_to(library).with_suffix("").as_posix())


def _written(file: Path) -> Iterator[Document]:
    if file.exists():
        for _, written in rows_of_lines(file, WrittenDocument):
            yield Document(written.name, written.title or written.name, written.text)


def _case(question: Question, documents: dict[str, Document], where: str) -> Case:
    if (question.expected == "answered") != bool(question.evidence):
        raise InvalidRequest(
            f"{where}: evidence: a question needs evidence if `expected` is answered, and none if it is abstained."
        )
    evidence = tuple(
        frozenset(sentence for quoted in chosen for sentence in _quoted(quoted, documents, where))
        for chosen in question.evidence
    )
    tags: dict[str, str] = {"language": question.language, "kind": question.kind}
    if question.topic_change:
        tags["topic"] = "changed"
    return Case(
        case_id=question.id,
        question=question.question,
        expected=question.expected,
        answers=tuple(question.answers),
        evidence=evidence,
        accepted=frozenset(s for quoted in question.accepted for s in _quoted(quoted, documents, where)),
        planted=tuple(PlantedSentence(each.text, each.faithful) for each in question.planted),
        before=tuple(question.before),
        pages=tuple(question.pages),
        only_selected_pages=question.only_selected_pages,
        removal=tuple(sorted({s.document for chosen in evidence for s in chosen})) if question.paired else (),
        tags={name: value for name, value in tags.items() if value},
    )


def _quoted(quoted: QuotedSentence, documents: dict[str, Document], where: str) -> tuple[Sentence, ...]:
    document = documents.get(quoted.document)
    if document is None:
        raise InvalidRequest(f"{where}: document: there is no {quoted.document!r} in the library.")
    found = sentences_of(document, quoted.quote)
    if not found:
        raise InvalidRequest(
            f"{where}: quote: {quoted.quote!r} is not a whole sentence or table row of {quoted.document}.",
            suggestion="Quote it exactly; a row is `a | b | c`, with bars around it or without.",
        )
    return found
