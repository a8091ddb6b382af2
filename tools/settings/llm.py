"""Chat models, which ``tools/llm`` asks."""

from typing import Annotated

from pydantic import Field, SecretStr

from tools.settings.section import BaseUrl, Section

EXTRACTIVE = "extractive"


class ModelSettings(Section):
    """A chat model behind an OpenAI-compatible endpoint; requests select it by ``name``."""

    name: Annotated[str, Field(max_length=100, pattern=r"^[\w.:/-]+$")]
    label: str = ""
    base_url: BaseUrl
    api_key: SecretStr = SecretStr("")
    model: str
    thinking_model: str | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 60.0
    context_tokens: Annotated[int, Field(ge=1024)] = 8192
