"""Questions of a data set of one's own, made of what readers said of answers.

An answer that its reader called good is a question with its evidence: the sentences that its proven claims quote. A
refusal that its reader called good is one that is to be refused. Of an answer that was called poor nobody knows yet
what would be right: it goes to a file for review, with what the reader said, until somebody writes its evidence.
What is in the folder already stays as it is, so that figures of one run and the next compare.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from psycopg.rows import class_row

from evals.cases import Document
from evals.sets.own import Question, QuotedSentence, WrittenDocument, sentences_of
from evals.sets.set_files import rows_of_lines
from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity, Page
from text.language import language
from tools.library.catalogue import Documents
from tools.retrieval.segment_store import SegmentStore
from tools.sessions.feedback import MeantClaim, Rating, Reason
from tools.sessions.history import StoredMessage
from tools.sessions.session_store import Sessions
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

KIND = "feedback"
MOST_BEFORE = 6  # questions that a follow-up remembers
DOCUMENTS_AT_ONCE = 200
_GIVEN = """
SELECT session.session_id::text, session."user", f.message_id::text, f.rating, f.reason_code, f.note, f.claim
FROM message_feedback AS f JOIN messages USING (message_id) JOIN sessions AS session USING (session_id)
WHERE session.workspace = %(workspace)s AND (%(user)s::text IS NULL OR session."user" = %(user)s)
ORDER BY f.given_at, f.message_id
"""


@dataclass(frozen=True, slots=True)
class _Given:
    """Feedback as it is stored, with whose session it is of."""

    session_id: str
    user: str
    message_id: str
    rating: Rating
    reason_code: Reason | None
    note: str | None
    claim: MeantClaim | None

    @property
    def question_id(self) -> str:
        return f"feedback-{self.message_id}"


@dataclass(frozen=True, slots=True)
class Written:
    """How many questions, questions for review and documents were added to a folder."""

    questions: int
    review: int
    documents: int


@dataclass(frozen=True, slots=True)
class FeedbackReader:
    """Reads the feedback of a workspace, and the documents that the questions are about.

    ``user`` is the one whose feedback counts, with that user's rights; for None everybody's does, and documents are
    those that everyone in the workspace may read.
    """

    database: Database
    workspaces: Workspaces
    workspace: str
    user: str | None = None
    groups: tuple[str, ...] = ()

    @property
    def _reader(self) -> Identity:
        return Identity(self.workspace, self.user or "", self.groups if self.user else ())

    async def add_to(self, folder: "QuestionFolder", *, whole_library: bool = False) -> Written:
        """Add what is new to a folder; ``whole_library``: with all documents, so that searches have others to find.

        Raises NotFound, InvalidRequest for a folder that can't be read or written.
        """
        known = folder.ids()
        ready: list[Question] = []
        review: list[Question] = []
        for given in await self._given():
            if given.question_id in known:
                continue
            answered = await self._answered(given)
            if answered is None or (given.rating == "up" and _has_no_gold(answered[-1])):
                continue
            await self._read(folder, _documents_of(answered))
            question, is_ready = _question(given, answered, folder.documents)
            (ready if is_ready else review).append(question)
        if whole_library:
            await self._read(folder, await self._all_documents())
        return folder.write(ready, review)

    async def _given(self) -> list[_Given]:
        row = {"workspace": await self.workspaces.number(self.workspace), "user": self.user}
        async with (
            self.database.connection() as connection,
            connection.cursor(row_factory=class_row(_Given)) as rows,
        ):
            return await (await rows.execute(_GIVEN, row)).fetchall()

    async def _answered(self, given: _Given) -> list[StoredMessage] | None:
        """Return the branch up to an answer, as far as the reader may see it; None if it was deleted meanwhile."""
        sessions = Sessions(self.database, self.workspaces)
        owner = replace(self._reader, user=given.user)
        viewer = None if self.user else self._reader
        try:
            history = await sessions.whole(owner, given.session_id, through=given.message_id, reader=viewer)
        except NotFound:
            return None
        return history.messages if len(history.messages) > 1 else None

    async def _read(self, folder: "QuestionFolder", document_ids: Iterable[str]) -> None:
        missing = [each for each in dict.fromkeys(document_ids) if each not in folder.documents]
        reader = SegmentStore(self.database, self.workspaces)
        for at in range(0, len(missing), DOCUMENTS_AT_ONCE):
            for page in await reader.read_pages(missing[at : at + DOCUMENTS_AT_ONCE], self._reader):
                folder.add(page)

    async def _all_documents(self) -> list[str]:
        listed: list[str] = []
        cursor = None
        documents = Documents(self.database, self.workspaces)
        while True:
            found = await documents.list(self._reader, limit=DOCUMENTS_AT_ONCE, cursor=cursor)
            listed += [each.document_id for each in found.documents]
            cursor = found.next_cursor
            if cursor is None:
                return listed


class QuestionFolder:
    """The folder of a data set: questions, those for review beside them, and the texts of documents."""

    def __init__(self, file: Path) -> None:
        """Read what is there. Raises InvalidRequest for a name that the data set would not read, or a broken file."""
        if not (file.name.startswith("questions") and file.suffix == ".jsonl"):
            raise InvalidRequest(
                f"out: {file.name} is not read by `citewell eval run own`.",
                suggestion="Name it questions.jsonl, or questions-NAME.jsonl, in a folder of its own.",
            )
        self._file = file
        self.review_file = file.with_name(f"review{file.name.removeprefix('questions')}")
        self._texts = file.with_name("documents.jsonl")
        written = rows_of_lines(self._texts, WrittenDocument) if self._texts.exists() else ()
        self.documents = {each.name: Document(each.name, each.title, each.text) for _, each in written}
        self._new: list[Document] = []

    def ids(self) -> set[str]:
        """Return the ids of all questions in the folder, those for review among them."""
        files = [*self._file.parent.glob("questions*.jsonl"), *self._file.parent.glob("review*.jsonl")]
        return {question.id for file in files for _, question in rows_of_lines(file, Question)}

    def add(self, page: Page) -> None:
        """Add a document with the text that it has today."""
        text = "".join(segment.text for segment in page.segments)
        if text.strip():
            self._new.append(Document(page.document_id, page.title or page.document_id, text))
            self.documents[page.document_id] = self._new[-1]

    def write(self, ready: Sequence[Question], review: Sequence[Question]) -> Written:
        """Write what is new behind what is there. Raises InvalidRequest."""
        texts = [WrittenDocument(name=each.name, title=each.title, text=each.text) for each in self._new]
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            _append(self._file, (_row(each) for each in ready))
            _append(self.review_file, (_row(each) for each in review))
            _append(self._texts, (each.model_dump() for each in texts))
        except OSError as error:
            raise InvalidRequest(f"out: {self._file} cannot be written: {error.strerror}.") from error
        return Written(len(ready), len(review), len(texts))


def _append(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    if lines:
        before = file.read_text("utf-8") if file.exists() else ""
        if before and not before.endswith("\n"):
            lines = f"\n{lines}"
        with file.open("a", encoding="utf-8") as opened:
            opened.write(lines)


def _row(question: Question) -> dict[str, Any]:
    kept = question.model_dump(exclude_defaults=True)
    return kept if question.evidence or question.expected == "abstained" else {**kept, "evidence": []}


def _documents_of(messages: Sequence[StoredMessage]) -> Iterator[str]:
    yield from messages[-2].body.get("page_ids", ())
    for citation in _cited(messages[-1], None):
        yield citation["document_id"]


def _has_no_gold(answer: StoredMessage) -> bool:
    """Whether an answer cites nothing by its nature, such as small talk, so that a good one says nothing of proof."""
    return answer.outcome == "answered" and not answer.body.get("citations")


def _question(
    given: _Given, messages: Sequence[StoredMessage], documents: dict[str, Document]
) -> tuple[Question, bool]:
    """Return the question of an answer, and whether it is ready: what is right is known."""
    asked, answer = messages[-2], messages[-1]
    refused = answer.outcome == "abstained"
    evidence = [] if refused or given.rating == "down" else _evidence(_cited(answer, given.claim), documents)
    is_ready = given.rating == "up" and (refused or bool(evidence))
    question = Question(
        id=given.question_id,
        question=asked.content,
        expected="abstained" if refused and is_ready else "answered",
        evidence=[evidence] if evidence else [],
        before=[each.content for each in messages[:-2] if each.role == "user"][-MOST_BEFORE:],
        pages=[each for each in asked.body.get("page_ids", ()) if each in documents],
        language=language(asked.content),
        kind=KIND,
        note=_note(given, answer),
    )
    return question, is_ready


def _cited(answer: StoredMessage, meant: MeantClaim | None) -> list[dict[str, Any]]:
    """Return the citations of an answer's proven claims, or of the one that is meant, that still stand."""
    claims = [
        claim
        for claim in answer.body.get("claims", ())
        if claim["verdict"] == "supported"
        and (meant is None or (claim["section_index"], claim["start"]) == (meant["section_index"], meant["start"]))
    ]
    cited = [citation for claim in claims for citation in claim["citations"]]
    return [each for each in cited if each.get("freshness") in ("fresh", "moved")]


def _evidence(citations: Iterable[dict[str, Any]], documents: dict[str, Document]) -> list[QuotedSentence]:
    """Return the whole sentences that quotes lie in, of passages their highlights, each once.

    None if one of the quotes is not in its document's text.
    """
    found: dict[tuple[str, str], QuotedSentence] = {}
    for citation in citations:
        document = documents.get(citation["document_id"])
        place = citation.get("now") or citation
        if document is None or document.text[place["start"] : place["end"]] != citation["quote"]:
            return []
        bears, moved = citation.get("highlight") or citation, place["start"] - citation["start"]
        covered = document.sentences_in(bears["start"] + moved, bears["end"] + moved)
        if not covered:
            return []
        start, end = document.spans[covered[0].index][0], document.spans[covered[-1].index][1]
        quote = document.text[start:end]
        if not sentences_of(document, quote):
            return []
        found[document.name, quote] = QuotedSentence(document=document.name, quote=quote)
    return list(found.values())


def _note(given: _Given, answer: StoredMessage) -> str:
    """Say what the reader said, and of what."""
    said = [f"A reader called this answer {'good' if given.rating == 'up' else 'poor'}"]
    if given.reason_code:
        said.append(given.reason_code.replace("_", " "))
    if given.note:
        said.append(" ".join(given.note.split()))
    meant = given.claim
    if meant is not None:
        sections = answer.body.get("sections", ())
        text = sections[meant["section_index"]]["text"] if meant["section_index"] < len(sections) else ""
        said.append(f"of the claim “{text[meant['start'] : meant['end']]}”")
    if given.rating == "down":
        said.append(f"the answer was “{' '.join(answer.content.split())}”")
    return "; ".join(said) + "."
