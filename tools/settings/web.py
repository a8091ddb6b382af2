"""The web search of ``tools/web``."""

from pydantic import HttpUrl, SecretStr, TypeAdapter, field_validator

from tools.settings.section import Section, sendable_key


class WebSettings(Section):
    """The web search endpoint, which is off without a key, and what is stored of its results.

    Result pages are fetched only with ``fetch_pages``; otherwise only the search snippets are stored.
    """

    api_key: SecretStr = SecretStr("")
    base_url: str = "https://google.serper.dev"
    fetch_pages: bool = False

    @field_validator("base_url")
    @classmethod
    def _normal(cls, value: str) -> str:
        TypeAdapter(HttpUrl).validate_python(value)
        return value.rstrip("/")

    @field_validator("api_key")
    @classmethod
    def _sendable(cls, value: SecretStr) -> SecretStr:
        return sendable_key(value)
