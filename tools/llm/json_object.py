"""Find the JSON object in a model's reply, which may stand in a fence or among prose."""

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from graph.errors import ModelReplyInvalid

Form = TypeVar("Form", bound=BaseModel)


def first_json_object(text: str) -> dict[str, Any]:
    """Give the first JSON object in a text.

    Raises ModelReplyInvalid where there is none.
    """
    decoder = json.JSONDecoder(strict=False)
    at = text.find("{")
    if at < 0:
        raise ModelReplyInvalid("The model's reply holds no JSON object.")
    try:
        value: dict[str, Any] = decoder.raw_decode(text, at)[0]
    except (ValueError, RecursionError) as error:
        raise ModelReplyInvalid("The model's reply is not valid JSON.") from error
    return value


def read_form(text: str, form: type[Form]) -> Form:
    """Read the first JSON object in a text as the form that was asked for.

    Raises ModelReplyInvalid where there is none, or it has another form.
    """
    try:
        return form.model_validate(first_json_object(text))
    except ValidationError as error:
        raise ModelReplyInvalid("The model's reply does not have the form asked for.") from error
