"""What scripted models have in common: how they read a prompt, and what they reply where nothing is to be shown."""

import re
from typing import Any

from evals.endpoint import ModelRequest

_TAG = re.compile(r"^\[SEG=([^\]\s]+)\] ?", re.MULTILINE)


def last_message(request: ModelRequest) -> str:
    """Read the message that is to be prepared."""
    return request.text.rsplit("Last message:\n", 1)[-1].strip()


def shown_segments(context: str) -> dict[str, str]:
    """Read the texts of the segments shown, by id in the order shown."""
    _, *parts = _TAG.split(context)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def prepared(standalone_question: str) -> dict[str, Any]:
    """Say that a question is to be answered from the library."""
    decided = {"intent": "content_query", "standalone_question": standalone_question, "needs_retrieval": True}
    return {**decided, "reason": "as told"}


def all_relevant(request: ModelRequest) -> dict[str, Any]:
    """Keep every segment that is to be graded."""
    return {"relevant": request.schema["properties"]["relevant"]["items"]["enum"]}
