"""Chat models, which ``tools/llm`` asks."""

import re
from typing import Annotated, Any

from pydantic import Field, SecretStr, model_validator

from tools.settings.section import BaseUrl, Section

EXTRACTIVE = "extractive"

# Of hosted models, whose makers say what they take. More than the largest would cost more than it answers.
_KNOWN = (
    (128_000, r"glm-[45](?:\.\d)?-(?:plus|air|flash|flashx|turbo)"),
    (128_000, r"(?:chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-5|o[134]|claude|gemini|grok|kimi-k2)\b.*"),
    (128_000, r"qwen-(?:plus|turbo|flash)\b.*|qwen3-max\b.*"),
    (64_000, r"deepseek-(?:chat|reasoner)"),
    (16_385, r"gpt-3\.5-turbo\b.*"),
    (8_192, r"gpt-4(?:-\d+)?"),
)
_CONTEXT_NAMED = re.compile(r"(?<![a-z\d])(\d{1,3})k(?![a-z\d])")  # as in moonshot-v1-32k
HOSTED_CONTEXT = 32_768
USUAL_CONTEXT = 8_192


def usual_context(model: str, base_url: str) -> int:
    """Return how many tokens of context a model takes by its name, of an unknown one how many are tried.

    A hosted endpoint refuses a request that is too long, and is then asked with less. A server of one's own, which is
    asked over http, may cut it in silence instead.
    """
    name = model.casefold().rpartition("/")[2]
    for tokens, pattern in _KNOWN:
        if re.fullmatch(pattern, name):
            return tokens
    if not base_url.casefold().startswith("https:"):
        return USUAL_CONTEXT
    named = _CONTEXT_NAMED.search(name)
    return max(1024, min(128_000, int(named[1]) * 1000)) if named else HOSTED_CONTEXT


class ModelSettings(Section):
    """A chat model behind an OpenAI-compatible endpoint; requests select it by ``name``.

    Without ``context_tokens`` it has those of ``usual_context``.
    """

    name: Annotated[str, Field(max_length=100, pattern=r"^[\w.:/-]+$")]
    label: str = ""
    base_url: BaseUrl
    api_key: SecretStr = SecretStr("")
    model: str
    thinking_model: str | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 60.0
    context_tokens: Annotated[int, Field(ge=1024)] = USUAL_CONTEXT

    @model_validator(mode="before")
    @classmethod
    def _with_usual_context(cls, values: Any) -> Any:
        if not isinstance(values, dict) or "context_tokens" in values:
            return values
        usual = usual_context(str(values.get("model", "")), str(values.get("base_url", "")))
        return {**values, "context_tokens": usual}
