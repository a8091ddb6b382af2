"""What Chat Completions says of a whole answer: how it ended, what it used, and the answer in one piece."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from api.dialects.holding import told_of
from api.dialects.openai_text import Addresses, CitedText, by_appearance, by_index
from graph.events import RunFinished
from graph.evidence import Spent

DEFAULT_BASE_URL = "http://127.0.0.1:8400"


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a client wants its answer told.

    ``base_url`` is where the client reaches this service; ``usage`` asks a stream for its last chunk; ``events`` for
    Open WebUI's events in the place of annotations; ``links`` for marks that are Markdown links.
    """

    model: str = "citewell"
    base_url: str = DEFAULT_BASE_URL
    usage: bool = False
    events: bool = False
    links: bool = False

    def text(self, addresses: Addresses) -> CitedText:
        """Begin the text of an answer."""
        return CitedText(addresses, by_index if self.events else by_appearance(), links=self.links)


def completion_id(run_id: str) -> str:
    """Give a run the id of a completion."""
    return f"chatcmpl-{run_id}"


def finish_reason(end: RunFinished) -> Literal["stop", "length"]:
    """Say how the text ends: ``length`` is OpenAI's word for one that was cut off, and the only one that is true."""
    return "length" if end.outcome == "cancelled" else "stop"


def usage_of(spent: Mapping[str, Spent]) -> dict[str, int]:
    """Add up the tokens that the endpoints reported for all the calls of a run; 0 where no model was called.

    They are counted without telling prompts from replies. Since the prompts of a run hold its sources and are by far
    the longer part, the sum stands as theirs.
    """
    total = sum(step["tokens"] for step in spent.values())
    return {"prompt_tokens": total, "completion_tokens": 0, "total_tokens": total}


def extension(run_id: str, session_id: str, end: RunFinished) -> dict[str, str]:
    """Say what OpenAI has no words for, in a field that its clients hand through."""
    return {"run_id": run_id, "session_id": session_id, "outcome": end.outcome, "stop_reason": end.stop_reason}


def completion(
    run_id: str, session_id: str, end: RunFinished, wanted: Wanted, *, created: int, thinking: str = ""
) -> dict[str, Any]:
    """Lay a finished run out as a chat completion; text and annotations are those of its stream.

    ``created`` is in seconds since 1970.
    """
    addresses = Addresses(wanted.base_url)
    addresses.learn(end.message["sources"])
    text = wanted.text(addresses)
    content = "".join(piece for told in told_of(end.message) for piece in text.write(told))
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if thinking:
        message["reasoning_content"] = thinking
    message["annotations"] = text.annotations
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(end)}
    return {
        "id": completion_id(run_id),
        "object": "chat.completion",
        "created": created,
        "model": wanted.model,
        "choices": [choice],
        "usage": usage_of(end.spent),
        "citewell": extension(run_id, session_id, end),
    }
