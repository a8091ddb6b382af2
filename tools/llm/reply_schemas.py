"""JSON schemas of replies, the ways to request them from an endpoint, and the parsing of replies."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from graph.errors import ModelReplyInvalid

Format = Literal["json_schema", "json_object", "text"]
FORMATS: tuple[Format, ...] = ("json_schema", "json_object", "text")


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """A named JSON schema for a whole reply."""

    name: str
    schema: dict[str, Any]

    def response_format(self, form: Format) -> dict[str, Any]:
        """Return the request fields that ask for this schema in one of the formats."""
        match form:
            case "json_schema":
                strict = {"name": self.name, "schema": self.schema, "strict": True}
                return {"response_format": {"type": "json_schema", "json_schema": strict}}
            case "json_object":
                return {"response_format": {"type": "json_object"}}
            case "text":
                return {}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_PREPARATION = {
    "intent": {"type": "string", "enum": ["content_query", "small_talk", "about_library", "file_order"]},
    "standalone_question": {"type": "string"},
    "needs_retrieval": {"type": "boolean"},
    "reason": {"type": "string"},
}
_TEXTS = {"type": "array", "items": {"type": "string"}}


def preparation_schema(languages: Sequence[str], *, sub_questions: bool) -> ReplySchema:
    """Return the schema of a preparation, with search queries in these languages and the parts of the question."""
    asked: dict[str, Any] = {"sub_questions": _TEXTS} if sub_questions else {}
    if languages:
        asked["search_queries"] = _object(**dict.fromkeys(languages, _TEXTS))
    return ReplySchema("preparation", _object(**_PREPARATION, **asked))


def rewriting_schema(languages: Sequence[str]) -> ReplySchema:
    """Return the schema of a search query, or of one in each of several languages."""
    text = {"type": "string"}
    query = {"query": text} if len(languages) == 1 else {"queries": _object(**dict.fromkeys(languages, text))}
    return ReplySchema("rewriting", _object(**query, reason=text))


TITLE = ReplySchema("title", _object(title={"type": "string"}))


def proposals_schema(segment_ids: Sequence[str]) -> ReplySchema:
    """Return the schema of proposed questions, each with one of these segments and its words that answer it."""
    segment_id = {"type": "string", "enum": list(segment_ids)}
    question = _object(segment_id=segment_id, quote={"type": "string"}, question={"type": "string"})
    return ReplySchema("proposals", _object(questions={"type": "array", "items": question}))


ASSESSMENT = ReplySchema("assessment", _object(utility={"type": "integer", "enum": list(range(11))}))


def grading_schema(count: int) -> ReplySchema:
    """Return the schema of a grading: the numbers of the relevant passages, out of ``count``."""
    number = {"type": "integer", "enum": list(range(1, count + 1))}
    return ReplySchema("grading", _object(relevant={"type": "array", "items": number}))


def answer_schema(segment_ids: Sequence[str]) -> ReplySchema:
    """Return the schema of an answer in sections that can cite only these segments.

    The ids come before the text, so that a section's text can leave with its citations while it is being written.
    """
    source_ids = {"type": "array", "items": {"type": "string", "enum": list(segment_ids)}}
    section = _object(source_ids=source_ids, text={"type": "string"})
    return ReplySchema("answer", _object(sections={"type": "array", "items": section}))


def revision_schema(count: int, segment_ids: Sequence[str]) -> ReplySchema:
    """Return the schema of revised sections, numbered out of ``count``, that can cite only these segments."""
    number = {"type": "integer", "enum": list(range(1, count + 1))}
    source_ids = {"type": "array", "items": {"type": "string", "enum": list(segment_ids)}}
    section = _object(section=number, source_ids=source_ids, text={"type": "string"})
    return ReplySchema("revision", _object(sections={"type": "array", "items": section}))


def judging_schema(count: int, verdicts: Sequence[str]) -> ReplySchema:
    """Return the schema of a judge's reply: for each claim's number a comparison in words, and then its verdict.

    It is an object rather than an array, so that each claim is judged once without ``minItems``, which not every
    endpoint supports.
    """
    text = {"type": "string"}
    judged = _object(claim=text, entry=text, difference=text, verdict={"type": "string", "enum": list(verdicts)})
    return ReplySchema("judging", _object(**{str(number): judged for number in range(1, count + 1)}))


Form = TypeVar("Form", bound=BaseModel)


def first_json_object(text: str) -> dict[str, Any]:
    """Return the first JSON object in a text.

    Raises ModelReplyInvalid if there is none.
    """
    decoder = json.JSONDecoder(strict=False)
    at = text.find("{")
    if at < 0:
        raise ModelReplyInvalid("The model's reply contains no JSON object.")
    try:
        value: dict[str, Any] = decoder.raw_decode(text, at)[0]
    except (ValueError, RecursionError) as error:
        raise ModelReplyInvalid("The model's reply is not valid JSON.") from error
    return value


def read_form(text: str, form: type[Form]) -> Form:
    """Parse the first JSON object in a text as the requested model.

    Raises ModelReplyInvalid if there is none, or it does not match the model.
    """
    try:
        return form.model_validate(first_json_object(text))
    except ValidationError as error:
        raise ModelReplyInvalid("The model's reply does not match the requested schema.") from error
