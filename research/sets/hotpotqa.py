"""HotpotQA (Yang et al. 2018), distractor setting: questions that need two of their ten paragraphs.

Each paragraph is stored once, even if several questions share it, and all paragraphs form one library, so the two must
be found among all.
"""

from itertools import accumulate
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from evals.cases import Case, DataSet, Document, Sentence
from evals.sets.set_files import file_at, rows_of_array
from graph.errors import InvalidRequest
from text.sentences import trimmed


class SupportingFacts(BaseModel):
    """The sentences that support the answer, as parallel lists of paragraph titles and sentence indices."""

    title: list[str]
    sent_id: list[Annotated[int, Field(ge=0)]]


class Paragraphs(BaseModel):
    """Parallel lists of titles and each paragraph's sentences, which start with the white space between them."""

    title: list[str]
    sentences: list[list[str]]


class HotpotQAQuestion(BaseModel):
    """An entry of the file."""

    question: Annotated[str, Field(min_length=1)]
    answer: Annotated[str, Field(min_length=1)]
    type: str
    supporting_facts: SupportingFacts
    context: Paragraphs


def hotpotqa_set(path: Path) -> DataSet:
    """Read ``distractor.json``, or the folder that contains it.

    A document's name is its title. Both paragraphs' sentences are one set of evidence. An answer of quotes never says
    "yes" or "no", so such questions have no ``answers``. Raises InvalidRequest naming the invalid file, entry and
    field.
    """
    file = file_at(path, "distractor.json")
    documents: dict[str, Document] = {}
    cases: list[Case] = []
    for number, (where, row) in enumerate(rows_of_array(file, HotpotQAQuestion), 1):
        for title, sentences in _paragraphs(row, where):
            document = _document(title, sentences)
            if documents.setdefault(title, document).text != document.text:
                raise InvalidRequest(f"{where}: context: the text of {title!r} differs from an earlier one.")
        evidence = _evidence(row, documents, where)
        cases.append(
            Case(
                case_id=f"{number:04d}",
                question=row.question,
                answers=() if row.answer in ("yes", "no") else (row.answer,),
                evidence=(evidence,),
                removal=tuple(sorted({sentence.document for sentence in evidence})),
                tags={"language": "en", "kind": row.type},
            )
        )
    return DataSet("hotpotqa", tuple(documents.values()), tuple(cases))


def _paragraphs(row: HotpotQAQuestion, where: str) -> list[tuple[str, list[str]]]:
    if len(row.context.title) != len(row.context.sentences):
        raise InvalidRequest(f"{where}: context: title and sentences differ in length.")
    return list(zip(row.context.title, row.context.sentences, strict=True))


def _document(title: str, sentences: list[str]) -> Document:
    text = "".join(sentences)
    ends = list(accumulate(map(len, sentences)))
    given = (trimmed(text, end - len(sentence), end) for sentence, end in zip(sentences, ends, strict=True))
    return Document(title, title, text, given=tuple(given))


def _evidence(row: HotpotQAQuestion, documents: dict[str, Document], where: str) -> frozenset[Sentence]:
    facts = row.supporting_facts
    if len(facts.title) != len(facts.sent_id):
        raise InvalidRequest(f"{where}: supporting_facts: title and sent_id differ in length.")
    for title, index in zip(facts.title, facts.sent_id, strict=True):
        if title not in documents or index >= len(documents[title].spans):
            raise InvalidRequest(f"{where}: supporting_facts: there is no sentence {index} of {title!r}.")
    return frozenset(map(Sentence, facts.title, facts.sent_id))
