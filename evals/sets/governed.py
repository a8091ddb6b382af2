"""Short documents of our own, each with a sentence whose meaning its context changes, and twins without such a context.

A line is a document with its question. In a governed document the sentence that answers by its words, the ``trap``, is
denied, limited, quoted, doubted, replaced or hidden by what ``governs`` it; in its twin a like sentence simply holds.
Each question is asked of its own document, which alone is in its space. ``first.jsonl`` and ``second.jsonl`` have
different authors; the tag ``set`` is the file.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from evals.cases import Case, DataSet, Document
from evals.gold_passages import Passage, Trap, quote_hits
from evals.sets.set_files import rows_of_lines
from graph.errors import InvalidRequest, UnreadableDocument
from tools.parsers import parse

FOLDER = Path(__file__).resolve().parents[1] / "governed"

_Text = Annotated[str, Field(min_length=1)]


class GovernedQuestion(BaseModel, extra="forbid"):
    """A line of a file: the text of a document, the suffix of its ``form``, and the pair of document and twin.

    A governed document has a ``trap`` and what ``governs`` it, empty where markup strikes the trap out or hides it; its
    ``answers`` are what holds instead, if it says so. A twin has ``evidence`` and ``answers``.
    """

    id: _Text
    pair: _Text
    lang: _Text
    kind: _Text
    form: Literal["html", "md", "rst", "txt"]
    title: _Text
    document: _Text
    question: _Text
    governed: bool
    trap: str = ""
    governs: str = ""
    evidence: str = ""
    answers: list[_Text]


def governed_set(path: Path = FOLDER) -> DataSet:
    """Read a file, or every ``*.jsonl`` of a folder; without a path, the documents of our own.

    Raises InvalidRequest naming the invalid file, line and field.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    documents: list[Document] = []
    cases: list[Case] = []
    for file in files:
        for where, row in rows_of_lines(file, GovernedQuestion):
            document = _document(row, where)
            documents.append(document)
            cases.append(_case(row, document, file.stem, where))
    if not cases:
        raise InvalidRequest(f"{path} holds no question.")
    return DataSet("governed", tuple(documents), tuple(cases))


def _document(row: GovernedQuestion, where: str) -> Document:
    name = f"{row.id}.{row.form}"
    data = row.document.encode()
    try:
        text = parse(data, name=name).text
    except UnreadableDocument as error:
        raise InvalidRequest(f"{where}: document: {error.message}") from error
    return Document(row.id, row.title, text, data=data, file_name=name, space=row.id)


def _case(row: GovernedQuestion, document: Document, part: str, where: str) -> Case:
    if bool(row.trap) != row.governed or bool(row.evidence) == row.governed:
        raise InvalidRequest(f"{where}: governed: a governed document needs a trap, and a twin needs evidence.")
    for field, text in (("governs", row.governs), ("evidence", row.evidence)):
        if text and not quote_hits(document.text, text):
            raise InvalidRequest(f"{where}: {field}: the document does not hold {text!r}.")
    return Case(
        case_id=row.id,
        question=row.question,
        expected="either" if row.governed and not row.answers else "answered",
        answers=tuple(row.answers),
        passages=() if row.governed else (Passage(document.name, row.evidence),),
        trap=Trap(row.trap.strip("| "), row.governs) if row.governed else None,  # a row's outer bars are markup
        spaces=(document.space,),
        tags={
            "language": row.lang,
            "kind": row.kind,
            "set": part,
            "side": "governed" if row.governed else "twin",
        },
    )
