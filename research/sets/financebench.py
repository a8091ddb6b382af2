"""FinanceBench (Islam et al. 2023): questions about companies' filings, with the pages that hold the answer.

The library consists of all pages named as evidence. Their text is the data set's own, extracted from PDF files: tables
have one cell per line, and dashes and quotes are garbled.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from evals.cases import Case, DataSet, Document, Sentence
from evals.sets.set_files import file_at, rows_of_lines
from graph.errors import InvalidRequest


class EvidencePage(BaseModel):
    """A page of a filing, and its part that holds the evidence."""

    evidence_text: Annotated[str, Field(min_length=1)]
    doc_name: Annotated[str, Field(min_length=1)]
    evidence_page_num: Annotated[int, Field(ge=0)]
    evidence_text_full_page: Annotated[str, Field(min_length=1)]

    @property
    def name(self) -> str:
        return f"{self.doc_name}/{self.evidence_page_num}"

    @property
    def title(self) -> str:
        return f"{self.doc_name.replace('_', ' ')}, page {self.evidence_page_num}"


class FinanceBenchQuestion(BaseModel):
    """A line of the file."""

    financebench_id: Annotated[str, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    answer: Annotated[str, Field(min_length=1)]
    question_type: str
    evidence: Annotated[list[EvidencePage], Field(min_length=1)]


def financebench_set(path: Path) -> DataSet:
    """Read ``questions.jsonl``, or the folder that contains it.

    The evidence is one set over all of a question's pages: the sentences that the annotators marked. Other pages of
    the same filing may also hold the answer, so questions have no unanswerable twin. Raises InvalidRequest naming the
    invalid file, line and field.
    """
    documents: dict[str, Document] = {}
    cases: list[Case] = []
    for where, row in rows_of_lines(file_at(path, "questions.jsonl"), FinanceBenchQuestion):
        for page in row.evidence:
            document = Document(page.name, page.title, page.evidence_text_full_page)
            if documents.setdefault(page.name, document).text != document.text:
                raise InvalidRequest(
                    f"{where}: evidence_text_full_page: the text of {page.name} differs from an earlier one."
                )
        cases.append(
            Case(
                case_id=row.financebench_id,
                question=row.question,
                answers=(row.answer,),
                evidence=(frozenset(_evidence(row, documents, where)),),
                tags={"language": "en", "kind": row.question_type},
            )
        )
    return DataSet("financebench", tuple(documents.values()), tuple(cases))


def _evidence(row: FinanceBenchQuestion, documents: dict[str, Document], where: str) -> Iterator[Sentence]:
    for page in row.evidence:
        document = documents[page.name]
        start = document.text.find(page.evidence_text)
        if start < 0:
            raise InvalidRequest(f"{where}: evidence_text: it is not on its page, {page.name}.")
        yield from document.sentences_in(start, start + len(page.evidence_text))
