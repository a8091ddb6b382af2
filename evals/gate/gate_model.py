"""A scripted language model for the golden set: it keeps every passage and writes recorded replies.

Half of the recorded sections are wrong, in four known ways.

A reply cites each quote by the id of the offered segment that contains it. It quotes only offered segments: a section
is left out if one of its segments was not offered, so that the search's misses are not counted as the checker's. Ids
that no segment has are cited as recorded; the schema's list of ids is not enforced here. When asked to correct a
section, the model repeats it, so that a wrong one can only be withdrawn.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from evals.cases import Case, DataSet
from evals.dataset_store import document_ids
from evals.scripted_endpoint import ModelRequest
from evals.scripted_replies import all_relevant, first_allowed, last_message, prepared, shown_segments
from evals.sets.golden import FOLDER
from evals.sets.set_files import rows_of_lines
from tools.llm.prompting import sanitize

RecordedFault = Literal["wrong_number", "invented", "wrong_id", "unknown_id"]
RECORDED_FAULTS: tuple[RecordedFault, ...] = ("wrong_number", "invented", "wrong_id", "unknown_id")


class Cite(BaseModel, extra="forbid"):
    """A citation of a section: the segment with a quote of a document, or an id that no segment has."""

    document: str = ""
    quote: str = ""
    id: str = ""


class RecordedSection(BaseModel, extra="forbid"):
    """A section of one sentence. ``fault`` is its error, None if it is right."""

    text: str
    cites: tuple[Cite, ...]
    fault: RecordedFault | None


class RecordedReply(BaseModel, extra="forbid"):
    """The recorded reply to a question; ``id`` is the question's."""

    id: str
    sections: tuple[RecordedSection, ...]


def load_replies() -> dict[str, RecordedReply]:
    """Read the recorded replies by question id. Raises InvalidRequest naming the invalid line."""
    files = sorted(FOLDER.glob("replies.*.jsonl"))
    return {reply.id: reply for file in files for _, reply in rows_of_lines(file, RecordedReply)}


_NUMBERED = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)

Offered = Mapping[str, str]  # the segments of a request: their text by id


class RecordedModel:
    """A model that replies to the llm family's requests about one data set; ``evals.scripted_endpoint`` serves it."""

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
                reply = prepared(self._standalone.get(_line(question), question))
            case "grading":
                reply = all_relevant(request)
            case "answer":
                reply = {"sections": self._write(request.text)}
            case "revision":
                reply = {"sections": self._repeat(request.text)}
            case _:
                return first_allowed(request)
        return json.dumps(reply, ensure_ascii=False)

    def _write(self, prompt: str) -> list[Mapping[str, Any]]:
        """Return the recorded sections; none for a question without any, such as the first ones of a session."""
        context, _, rest = prompt.rpartition("\n\nQuestion: ")
        offered = _offered(context)
        replies = self._replies.get(_line(rest.rpartition("\n\nAnswer in ")[0]), ())
        # The same question is asked with different selected pages; choose the reply for the page that was read.
        return max((self._sections(reply, offered) for reply in replies), key=len, default=[])

    def _sections(self, reply: RecordedReply, offered: Offered) -> list[Mapping[str, Any]]:
        return [
            {"text": section.text, "source_ids": ids}
            for section in reply.sections
            if (ids := self._cited(section, offered))
        ]

    def _repeat(self, prompt: str) -> list[Mapping[str, Any]]:
        context, _, rest = prompt.partition("\n\nSections to correct:\n")
        offered = _offered(context)
        recorded = {_line(s.text): s for replies in self._replies.values() for reply in replies for s in reply.sections}
        return [
            {"section": int(number), "text": section.text, "source_ids": self._cited(section, offered)}
            for number, text in _NUMBERED.findall(rest)
            if (section := recorded.get(_line(text)))
        ]

    def _cited(self, section: RecordedSection, offered: Offered) -> list[str]:
        """Return the ids that a section cites; none if one of its quotes was not offered."""
        ids = [self._segment_id(cite, offered) for cite in section.cites]
        return ids if all(ids) else []

    def _segment_id(self, cite: Cite, offered: Offered) -> str:
        if cite.id:
            return cite.id
        of_document = f"{self._ids[cite.document]}:"
        quote = _line(cite.quote)
        return next((i for i, text in offered.items() if i.startswith(of_document) and quote in text), "")


def _standalone(case: Case) -> str:
    """Return a follow-up joined to the previous question, since no standalone wording is recorded."""
    is_follow_up = case.before and case.tags.get("topic") != "changed"
    return f"{case.before[-1]} {case.question}" if is_follow_up else case.question


def _offered(context: str) -> Offered:
    return {segment_id: _line(text) for segment_id, text in shown_segments(context).items()}


def _line(text: str) -> str:
    """Return a text sanitized as in requests, on one line."""
    return " ".join(sanitize(text).split())
