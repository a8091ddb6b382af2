"""Uploaded documents: JSON with text, or a form with a file, with the same fields in both.

Where there is neither, the page at ``url`` is fetched.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from api.body_limits import BODY_BYTES
from api.fields import Body
from api.openapi import REFERENCE
from graph.evidence import Space
from tools.library.new_documents import NewDocument, check_depth
from tools.web.addresses import is_address

JSON_FIELDS = ("metadata", "space", "readers")
READERS = (
    "Who may read it: `user:NAME`, `group:NAME`, or `everyone`. Left out, those of a stored document stay; a new one "
    "is for its owner, or for everyone where it has none."
)
FORM_FIELDS = 20


class DocumentFields(Body):
    """Fields that describe a document; those left out may be read from the document itself."""

    title: str | None = Field(default=None, description="At most 500 characters.")
    owner: str | None = Field(
        default=None, description="The user who always reads it, and alone may change it; null for none."
    )
    readers: list[str] | None = Field(default=None, description=READERS)
    space: Space | None = Field(default=None, description="The host's space: its id, its slug, or both.")
    slug: str | None = None
    url: str | None = Field(default=None, description="Where the original is: http://, https://, or a path.")
    source_type: str = "document"
    metadata: dict[str, Any] | None = Field(
        default=None, description="At most 16 KB of JSON in 20 levels, returned in sources."
    )
    name: str = Field(default="", description="A file name; its suffix determines the format.")
    media_type: str | None = Field(default=None, description="The format, if the name does not determine it.")
    dialect: str | None = Field(
        default=None,
        description="The wire format that will ask for it, which decides on the size of its segments: for "
        "`id_citations` each paragraph is one.",
    )


class DocumentText(DocumentFields):
    """A document as JSON: its `text`, or the `url` of a page to fetch."""

    text: str | None = Field(
        default=None,
        description="Left out with a `url` of http:// or https://: the page is fetched, under an id of its address.",
    )


class DocumentForm(DocumentFields):
    """A document as a form: `file`, `text`, or the `url` of a page; `space`, `readers` and `metadata` are JSON."""

    text: str | None = None
    file: bytes | None = Field(default=None, json_schema_extra={"format": "binary"})


def schema_of(body: type[Body]) -> dict[str, Any]:
    """Return the schema of a form or a body, for the description of a route."""
    schema = body.model_json_schema(ref_template=REFERENCE)
    schema.pop("$defs")  # they are already among the event schemas
    return schema


def form_schema() -> dict[str, Any]:
    """Return the schema of a document's form, in which every field is text and a field that is left out is null."""
    schema = schema_of(DocumentForm)
    return {**schema, "properties": {name: _text_of(name, field) for name, field in schema["properties"].items()}}


def _text_of(name: str, field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a form's field that has this schema in JSON."""
    named = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
    content = next(branch for branch in field.get("anyOf", [field]) if branch.get("type") != "null")
    if name in JSON_FIELDS:
        return {**named, "type": "string", "contentMediaType": "application/json", "contentSchema": content}
    return {**content, **named}


# An optional parameter, without which openapi-python-client forgets an import for bodies of two media types.
PREFER: dict[str, Any] = {
    "name": "prefer",
    "in": "header",
    "description": "`wait=N` waits N seconds for the end of a long upload; `respond-async` does not wait.",
    "schema": {"type": "string"},
}
UPLOAD_BODY: dict[str, Any] = {
    "parameters": [PREFER],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": schema_of(DocumentText)},
            "multipart/form-data": {"schema": form_schema()},
        },
    },
}


async def read_upload(request: Request) -> NewDocument:
    """Read the document of a request, as JSON or as a form.

    Large JSON is read apart: millions of small values hold an interpreter for seconds, in whatever thread. Raises
    RequestValidationError for invalid fields, and HTTPException 415 for any other media type.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == "application/json":
            body = await request.body()
            if len(body) > BODY_BYTES:
                uploads = request.app.state.citewell.library.uploads
                rest, text = await uploads.split_json(request.state.identity, body, most_bytes=BODY_BYTES)
                return _readable(replace(_from_json(rest), text=text))
            return _readable(await asyncio.to_thread(_from_json, body))
        if kind == "multipart/form-data":
            async with request.form(max_files=1, max_fields=FORM_FIELDS) as form:
                return await _from_form(form)
    except ValidationError as error:
        raise in_body(error) from error
    raise HTTPException(415, "Send application/json or multipart/form-data.")


def refused_field(field: str, message: str, kind: str = "missing") -> RequestValidationError:
    """Return the refusal of a request whose body lacks a field, or has a wrong one."""
    return RequestValidationError([{"type": kind, "loc": ("body", field), "msg": message, "input": None}])


def in_body(error: ValidationError) -> RequestValidationError:
    """Return the refusal of a request whose body has these faults."""
    return RequestValidationError([{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors()])


UploadedDocument = Annotated[NewDocument, Depends(read_upload)]


def _from_json(body: bytes) -> NewDocument:
    fields = DocumentText.model_validate_json(body)
    return NewDocument(**_fields(fields), text=fields.text)


async def _from_form(form: FormData) -> NewDocument:
    file = form.get("file")
    if isinstance(file, UploadFile):
        texts = {name: value for name, value in form.items() if name != "file"}
        fields = DocumentForm.model_validate(_with_json(texts))
        named = {**_fields(fields), "name": fields.name or file.filename or ""}
        return NewDocument(**named, text=fields.text, data=await file.read())
    return _readable(document_of_form(form))


def document_of_form(form: Mapping[str, Any]) -> NewDocument:
    """Return the document of a form without its file. Raises RequestValidationError and ValidationError."""
    fields = DocumentForm.model_validate(_with_json(form))
    return NewDocument(**_fields(fields), text=fields.text)


def _readable(document: NewDocument) -> NewDocument:
    """Return a document that has a text, or the address of a page to fetch."""
    if document.text is None and not is_address(document.url or ""):
        field, fault = "text", "needs a text, a file, or a url"
        if document.url:
            field, fault = "url", "must begin with http:// or https:// where there is neither a text nor a file"
        raise refused_field(field, fault)
    return document


def _with_json(form: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(form)
    for name in JSON_FIELDS:
        if isinstance(fields.get(name), str):
            try:
                fields[name] = json.loads(fields[name])
            except (ValueError, RecursionError) as error:
                fault = "must be JSON" if isinstance(error, ValueError) else "is nested too deeply"
                raise refused_field(name, fault, "value_error") from None
    return fields


def _fields(fields: DocumentFields) -> dict[str, Any]:
    check_depth(fields.metadata)  # before a job stores it, and other code walks it by recursion
    return {name: getattr(fields, name) for name in DocumentFields.model_fields}
