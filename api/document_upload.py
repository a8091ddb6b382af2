"""A document in a request: JSON with text, or a form with a file; both have the same fields."""

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from api.fields import Body
from api.openapi import REFERENCE
from graph.evidence import Space
from tools.library.new_documents import NewDocument

JSON_FIELDS = ("metadata", "space")
FORM_FIELDS = 20


class DocumentFields(Body):
    """What a caller may say of a document; what is left out, the document itself may tell."""

    title: str | None = Field(default=None, description="At most 500 characters.")
    owner: str | None = Field(default=None, description="The only user who may read it; null: the whole workspace.")
    space: Space | None = Field(default=None, description="The host's own space: its id, its slug, or both.")
    slug: str | None = None
    url: str | None = Field(default=None, description="Where the original is: http://, https://, or a path.")
    source_type: str = "document"
    metadata: dict[str, Any] | None = Field(default=None, description="At most 16 KB of JSON, given back in sources.")
    name: str = Field(default="", description="A file name; its suffix tells the format.")
    media_type: str | None = Field(default=None, description="The format, where the name does not tell it.")


class DocumentText(DocumentFields):
    """A document as JSON."""

    text: str


class DocumentForm(DocumentFields):
    """A document as a form: `file`, or `text`; `space` and `metadata` are JSON."""

    text: str | None = None
    file: bytes | None = Field(default=None, json_schema_extra={"format": "binary"})


def _schema(body: type[Body]) -> dict[str, Any]:
    schema = body.model_json_schema(ref_template=REFERENCE)
    schema.pop("$defs")  # the description of events has them
    return schema


UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": _schema(DocumentText)},
            "multipart/form-data": {"schema": _schema(DocumentForm)},
        },
    }
}


async def read_upload(request: Request) -> NewDocument:
    """Read the document that a request brings, in either form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == "application/json":
            return await _from_json(await request.body())
        if kind == "multipart/form-data":
            async with request.form(max_files=1, max_fields=FORM_FIELDS) as form:
                return await _from_form(form)
    except ValidationError as error:
        raise RequestValidationError([{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors()]) from error
    raise HTTPException(415, "Send application/json or multipart/form-data.")


UploadedDocument = Annotated[NewDocument, Depends(read_upload)]


async def _from_json(body: bytes) -> NewDocument:
    said = await asyncio.to_thread(DocumentText.model_validate_json, body)
    return NewDocument(**_fields(said), text=said.text)


async def _from_form(form: FormData) -> NewDocument:
    file = form.get("file")
    if isinstance(file, UploadFile):
        texts = {name: value for name, value in form.items() if name != "file"}
        said = DocumentForm.model_validate(_with_json(texts))
        named = {**_fields(said), "name": said.name or file.filename or ""}
        return NewDocument(**named, text=said.text, data=await file.read())
    said = DocumentForm.model_validate(_with_json(form))
    return NewDocument(**_fields(said), text=said.text)


def _with_json(form: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(form)
    for name in JSON_FIELDS:
        if isinstance(fields.get(name), str):
            try:
                fields[name] = json.loads(fields[name])
            except ValueError:
                raise RequestValidationError(
                    [{"type": "value_error", "loc": ("body", name), "msg": "must be a JSON object", "input": None}]
                ) from None
    return fields


def _fields(said: DocumentFields) -> dict[str, Any]:
    return {name: getattr(said, name) for name in DocumentFields.model_fields}
