"""A scripted language model for the golden set: it keeps every passage, and writes the replies recorded for it.

Half of the recorded sections are wrong, in four known ways.

What a reply quotes it cites by the id shown with the quote among the segments offered. It quotes nothing that it was
not offered: a section is left out where a segment that it cites was not offered, so that the search's misses are not
counted as the checker's. Ids that no segment has are cited as recorded; the schema's list of ids binds no model
here. Asked to correct a section it repeats it, so that what is wrong can only be withdrawn.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from evals.cases import Case, DataSet
from evals.dataset_store import document_ids
from evals.golden import FOLDER
from evals.scripted_endpoint import ModelRequest
from evals.scripted_replies import all_relevant, first_allowed, last_message, prepared, shown_segments
from evals.sets.set_files import rows_of_lines
from tools.llm.sanitizing import sanitize

RecordedFault = Literal["wrong_number", "invented", "wrong_id", "unknown_id"]
RECORDED_FAULTS: tuple[RecordedFault, ...] = ("wrong_number", "invented", "wrong_id", "unknown_id")


class Cite(BaseModel, extra="forbid"):
    """What a section cites: the segment that holds a quote of a document, or an id that no segment has."""

    document: str = ""
    quote: str = ""
    id: str = ""


class RecordedSection(BaseModel, extra="forbid"):
    """A section of one sentence. ``fault`` is what is wrong with it, None where it is right."""

    text: str
    cites: tuple[Cite, ...]
    fault: RecordedFault | None


class RecordedReply(BaseModel, extra="forbid"):
    """The reply to the question with this id."""

    id: str
    sections: tuple[RecordedSection, ...]


def load_replies() -> dict[str, RecordedReply]:
    """Read the recorded replies by the ids of their questions. Raises InvalidRequest naming the line at fault."""
    files = sorted(FOLDER.glob("replies.*.jsonl"))
    return {reply.id: reply for file in files for _, reply in rows_of_lines(file, RecordedReply)}


_NUMBERED = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)

Offered = Mapping[str, str]  # the segments of a request: their text by id


class RecordedModel:
    """Replies to the requests of the llm family about one data set. ``evals.scripted_endpoint`` serves it."""

    def __init__(self, data: DataSet, replies: Mapping[str, RecordedReply]) -> None:
        self._ids = document_ids(data)
        self._standalone: dict[str, str] = {}
        self._replies: dict[str, list[RecordedReply]] = defaultdict(list)
        for case in data.cases:
            self._standalone[_line(case.question)] = _standalone(case)
            if case.case_id in replies:
                self._replies[_line(_standalone(case))].append(replies[case.case_id])

    def reply(self, request: ModelRequest) -> str:
        """Return the reply to a request, as JSON."""
        match request.schema_name:
            case "preparation":
                question = last_message(request)
                said = prepared(self._standalone.get(_line(question), question))
            case "grading":
                said = all_relevant(request)
            case "answer":
                said = {"sections": self._write(request.text)}
            case "revision":
                said = {"sections": self._repeat(request.text)}
            case _:
                return first_allowed(request)
        return json.dumps(said, ensure_ascii=False)

    def _write(self, asked: str) -> list[Mapping[str, Any]]:
        """Write the recorded sections; an honest no to a question that has none, as the first ones of a session."""
        context, _, rest = asked.rpartition("\n\nQuestion: ")
        offered = _offered(context)
        replies = self._replies.get(_line(rest.rpartition("\n\nAnswer in ")[0]), ())
        # The same question is asked of two selected pages: the reply is the one to the page that was read.
        return max((self._sections(reply, offered) for reply in replies), key=len, default=[])

    def _sections(self, reply: RecordedReply, offered: Offered) -> list[Mapping[str, Any]]:
        return [
            {"text": section.text, "source_ids": ids}
            for section in reply.sections
            if (ids := self._cited(section, offered))
        ]

    def _repeat(self, asked: str) -> list[Mapping[str, Any]]:
        context, _, rest = asked.partition("\n\nSections to correct:\n")
        offered = _offered(context)
        recorded = {_line(s.text): s for replies in self._replies.values() for reply in replies for s in reply.sections}
        return [
            {"section": int(number), "text": section.text, "source_ids": self._cited(section, offered)}
            for number, text in _NUMBERED.findall(rest)
            if (section := recorded.get(_line(text)))
        ]

    def _cited(self, section: RecordedSection, offered: Offered) -> list[str]:
        """Return the ids of a section, none where one of its quotes was not offered."""
        ids = [self._segment_id(cite, offered) for cite in section.cites]
        return ids if all(ids) else []

    def _segment_id(self, cite: Cite, offered: Offered) -> str:
        if cite.id:
            return cite.id
        of_document = f"{self._ids[cite.document]}:"
        quote = _line(cite.quote)
        return next((i for i, text in offered.items() if i.startswith(of_document) and quote in text), "")


def _standalone(case: Case) -> str:
    """Return a follow-up with the question before it, since no wording of its own is recorded."""
    leans = case.before and case.tags.get("topic") != "changed"
    return f"{case.before[-1]} {case.question}" if leans else case.question


def _offered(context: str) -> Offered:
    return {segment_id: _line(text) for segment_id, text in shown_segments(context).items()}


def _line(text: str) -> str:
    """Bring a text to the form in which requests show it, in one line."""
    return " ".join(sanitize(text).split())
