"""Find the JSON object in a model's reply, which may stand in a fence or among prose."""

import json
from typing import Any

from graph.errors import ModelReplyInvalid


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
