"""Chat models, which ``tools/llm`` asks."""

from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from tools.settings.section import Section, normal_base_url

EXTRACTIVE = "extractive"


class ModelSettings(Section):
    """A chat model behind an OpenAI-compatible endpoint; requests select it by ``name``."""

    name: Annotated[str, Field(max_length=100, pattern=r"^[\w.:/-]+$")]
    label: str = ""
    base_url: str
    api_key: SecretStr = SecretStr("")
    model: str
    thinking_model: str | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 60.0
    context_tokens: Annotated[int, Field(ge=1024)] = 8192

    @field_validator("base_url")
    @classmethod
    def _normal(cls, value: str) -> str:
        return normal_base_url(value)
