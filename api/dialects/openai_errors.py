"""Errors as OpenAI's clients read them: ``{"error": {"message", "type", "param", "code"}}``."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from api.error_table import kind_of
from api.errors import Problem

PREFIX = "/v1/"
# OpenAI answers 400 to what it cannot take, and its clients name their exceptions after that.
STATUSES: Mapping[int, int] = {422: 400}
CODES: Mapping[str, str] = {"not_authenticated": "invalid_api_key", "unknown_model": "model_not_found"}

_PARAM = re.compile(r"([a-z_]+(?:\.\w+)*): ")


class Fault(BaseModel):
    """What went wrong. ``code`` is stable; ``message`` is for people and may be worded anew."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorBody(BaseModel):
    """An error as every route of this dialect answers with it."""

    error: Fault


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors of a route for OpenAPI; those of the caller are described together."""
    told: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorBody, "description": HTTPStatus(status).phrase} for status in statuses
    }
    return {"4XX": {"model": ErrorBody, "description": "The request cannot be served as it is."}, **told}


def error(code: str, message: str, suggestion: str, *, status: int | None = None) -> dict[str, Any]:
    """Lay an error out. ``param`` is the field that the message begins with, where it begins with one."""
    named = _PARAM.match(message)
    param = named[1] if named and named[1] != "body" else None
    if code == "not_found" and param == "model":
        code = "unknown_model"
    ours = (status or kind_of(code).status) >= 500
    return {
        "error": {
            "message": f"{message.rstrip('.')}. {suggestion}",
            "type": "server_error" if ours else "invalid_request_error",
            "param": param,
            "code": CODES.get(code, code),
        }
    }


def error_of(problem: Problem) -> dict[str, Any]:
    """Lay a problem out."""
    return error(problem.code, problem.detail, problem.suggestion, status=problem.status)
