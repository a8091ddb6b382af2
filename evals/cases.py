"""Evaluation cases: documents, questions with their gold evidence in whole sentences, and data sets of both.

The loaders of ``evals.sets`` convert every data set to this form.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from evals.gold_passages import Passage, Trap
from graph.errors import InvalidRequest
from text.sentences import sentences


def sentence_spans(text: str, sentences: Iterable[str]) -> list[tuple[int, int]]:
    """Return the spans of sentences, listed in order, in their text. Raises ValueError if one is missing."""
    spans: list[tuple[int, int]] = []
    at = 0
    for sentence in sentences:
        start = text.index(sentence, at)
        at = start + len(sentence)
        spans.append((start, at))
    return spans


def sentences_in(start: int, end: int, spans: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Return the sentences that a quote covers: the overlap exceeds half of the shorter of the two."""
    return frozenset(
        index
        for index, (first, last) in enumerate(spans)
        if 2 * (min(end, last) - max(start, first)) > min(last - first, end - start)
    )


Expected = Literal["answered", "abstained", "either"]  # either: a refusal is as right as an answer with its context
Span = tuple[int, int]


@dataclass(frozen=True, order=True, slots=True)
class Sentence:
    """A sentence of a data set: its document's name and its index in the document, from 0."""

    document: str
    index: int


@dataclass(frozen=True)
class Document:
    """A document of a data set. ``text`` is its canonical text, in which offsets count code points.

    ``data`` is the file that it was read from, if any; it is then ingested instead of the text, and ``file_name``
    shows its format. ``given`` holds the sentence spans that the data set defines, in order; without them Citewell's
    own splitter finds the sentences. ``space`` is the id of the space that it is stored in, if any.
    """

    name: str
    title: str
    text: str
    data: bytes | None = None
    file_name: str = ""
    given: tuple[Span, ...] | None = None
    space: str = ""

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The spans of its sentences, without surrounding white space."""
        return (
            self.given if self.given is not None else tuple(_trimmed(self.text, *span) for span in sentences(self.text))
        )

    def sentences_in(self, start: int, end: int) -> tuple[Sentence, ...]:
        """Return the sentences that a span covers: the overlap exceeds half of the shorter of the two."""
        return tuple(Sentence(self.name, index) for index in sorted(sentences_in(start, end, self.spans)))

    def sentence_text(self, sentence: Sentence) -> str:
        start, end = self.spans[sentence.index]
        return self.text[start:end]


def _trimmed(text: str, start: int, end: int) -> Span:
    body = text[start:end]
    return start + len(body) - len(body.lstrip()), end - (len(body) - len(body.rstrip()))


@dataclass(frozen=True, order=True, slots=True)
class PlantedSentence:
    """A sentence to plant in an answer, and whether the library bears it."""

    text: str
    faithful: bool = False


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question of a data set, with the description of a right answer.

    ``evidence`` lists alternative sets of sentences: citing all sentences of any one set is right. ``accepted``
    sentences may be cited too, but need not be. ``passages`` are evidence where sentences are not annotated.
    ``answers`` are strings any of which makes an answer right, if it also has one of each group of ``all_of``.
    ``trap`` is what must not be quoted without that which governs it. ``planted`` are sentences of known truth that a
    run with planting adds to the answer. ``before`` lists questions asked first, in the same session. ``pages`` names
    the selected documents, ``spaces`` the spaces to search, all of them if it is empty. ``removal`` names the
    documents without which the question can't be answered; if it is empty, the question has no unanswerable twin.
    ``tags`` group figures, such as ``language`` and ``kind``.
    """

    case_id: str
    question: str
    expected: Expected = "answered"
    answers: tuple[str, ...] = ()
    all_of: tuple[tuple[str, ...], ...] = ()
    evidence: tuple[frozenset[Sentence], ...] = ()
    accepted: frozenset[Sentence] = frozenset()
    passages: tuple[Passage, ...] = ()
    trap: Trap | None = None
    planted: tuple[PlantedSentence, ...] = ()
    before: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    only_selected_pages: bool = False
    spaces: tuple[str, ...] = ()
    removal: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def gold_documents(self) -> tuple[frozenset[str], ...]:
        """The documents of each alternative set of evidence."""
        return tuple(frozenset(sentence.document for sentence in chosen) for chosen in self.evidence)


@dataclass(frozen=True)
class DataSet:
    """Documents, and the questions asked of them as one library. Raises InvalidRequest if names clash.

    A ``lasting`` set is large: its library is kept from run to run, and no question of it may have a ``removal``.
    """

    name: str
    documents: tuple[Document, ...]
    cases: tuple[Case, ...]
    lasting: bool = False

    def __post_init__(self) -> None:
        for what, names in (
            ("documents", [document.name for document in self.documents]),
            ("questions", [case.case_id for case in self.cases]),
        ):
            if twice := _first_repeated(names):
                raise InvalidRequest(f"{self.name}: two {what} are called {twice!r}; names must be unique.")
        known = {document.name for document in self.documents}
        for case in self.cases:
            gold = {s.document for chosen in case.evidence for s in chosen} | {each.document for each in case.passages}
            named = {*case.pages, *case.removal, *gold}
            if missing := sorted(named - known):
                raise InvalidRequest(
                    f"{self.name}: question {case.case_id} names {missing[0]!r}, which is not a document."
                )

    def sample(self, most: int) -> "DataSet":
        """Return the same library with at most ``most`` questions, spread evenly over the set."""
        count = len(self.cases)
        if count <= most:
            return self
        return replace(self, cases=tuple(self.cases[index * count // most] for index in range(most)))

    @cached_property
    def by_name(self) -> Mapping[str, Document]:
        return {document.name: document for document in self.documents}


def _first_repeated(names: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
