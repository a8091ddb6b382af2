"""Files as their readers have them, manuals or what a company keeps, with questions written over them.

Every file that a parser reads is ingested from its own bytes, so that its title and text are what a user gets. Evidence
is an exact text of a file, which need not be whole sentences of its canonical text.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from evals.cases import Case, DataSet, Document
from evals.gold_passages import Passage, quote_hits
from evals.sets.set_files import file_at, rows_of_lines
from graph.errors import InvalidRequest, UnreadableDocument
from tools.library.found_files import find_files
from tools.parsers import formats, parse

QUESTIONS = "questions.jsonl"
DOCUMENTS = "docs"
_LOOKS = frozenset({".css", ".js"})  # how pages look and behave, no text of theirs


class FileEvidence(BaseModel):
    """A text of a file; an ``alternative`` one bears the answer as well as another does."""

    file: Annotated[str, Field(min_length=1)]
    text: Annotated[str, Field(min_length=1)]
    alternative: bool = False


class FileQuestion(BaseModel):
    """A line of the file. One without evidence has no answer in the files. ``history`` lists what was asked before.

    A right answer contains one of ``answers``, and one of every group of ``all_of``.
    """

    id: Annotated[str, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    lang: Annotated[str, Field(min_length=1)]
    kind: Annotated[str, Field(min_length=1)]
    history: list[Annotated[str, Field(min_length=1)]] = []
    evidence: list[FileEvidence]
    answers: list[Annotated[str, Field(min_length=1)]]
    all_of: list[Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]] = []


def manuals_set(path: Path) -> DataSet:
    """Read the questions and files of manuals, which are many: their library is kept from run to run."""
    return replace(_files_set(path, "manuals"), lasting=True)


def company_set(path: Path) -> DataSet:
    """Read the questions and files of a company."""
    return _files_set(path, "company")


def _files_set(path: Path, name: str) -> DataSet:
    """Read ``questions.jsonl``, or the folder that contains it, and the files of ``docs/`` or else of the folder.

    Raises InvalidRequest naming the invalid file, line and field: a document that can't be read, or evidence that its
    file does not hold.
    """
    file = file_at(path, QUESTIONS)
    rows = list(rows_of_lines(file, FileQuestion))
    if not rows:
        raise InvalidRequest(f"{file} holds no question.")
    documents = {document.name: document for document in _documents(file.resolve())}
    return DataSet(name, tuple(documents.values()), tuple(_case(row, documents, where) for where, row in rows))


def _documents(questions: Path) -> list[Document]:
    folder = questions.parent
    if (folder / DOCUMENTS).is_dir():
        folder /= DOCUMENTS
    suffixes = formats().suffixes.keys() - _LOOKS
    files = [found.path for found in find_files([folder]) if found.path.suffix.lower() in suffixes]
    if not (files := [each for each in files if each != questions]):
        raise InvalidRequest(f"{folder} holds no document: there is no file below it that can be read.")
    return [_document(file, file.relative_to(folder).as_posix()) for file in files]


def _document(file: Path, name: str) -> Document:
    try:
        data = file.read_bytes()
        return Document(name, "", parse(data, name=name).text, data=data, file_name=name)
    except OSError as error:
        raise InvalidRequest(f"{file} cannot be read: {error.strerror}.") from error
    except UnreadableDocument as error:
        raise InvalidRequest(f"{file}: {error.message}") from error


def _case(row: FileQuestion, documents: dict[str, Document], where: str) -> Case:
    for each in row.evidence:
        document = documents.get(each.file)
        if document is None:
            raise InvalidRequest(f"{where}: evidence.file: there is no document {each.file!r} beside the questions.")
        if not quote_hits(document.text, each.text):
            raise InvalidRequest(f"{where}: evidence.text: {each.file} does not hold {each.text!r}.")
    return Case(
        case_id=row.id,
        question=row.question,
        expected="answered" if row.evidence else "abstained",
        answers=tuple(row.answers),
        all_of=tuple(map(tuple, row.all_of)),
        passages=tuple(Passage(each.file, each.text, each.alternative) for each in row.evidence),
        before=tuple(row.history),
        tags={"language": row.lang, "kind": row.kind},
    )
