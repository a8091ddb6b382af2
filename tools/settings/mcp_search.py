"""The servers that ``tools/mcp_search`` searches."""

import os
import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, HttpUrl, SecretStr, TypeAdapter, field_validator, model_validator

from tools.settings.section import Section, sendable_key

SECRET_REFERENCE = re.compile(r"\$\{(\w+)\}")


def _resolved(value: SecretStr) -> SecretStr:
    """Return a value with the environment's in the place of ``${NAME}``. Raises ValueError where there is none."""

    def resolved(reference: re.Match[str]) -> str:
        if (found := os.environ.get(reference[1])) is None:
            raise ValueError(f"the environment has no variable {reference[1]}")
        return found

    return SecretStr(SECRET_REFERENCE.sub(resolved, value.get_secret_value()))


class McpServerSettings(Section):
    """An MCP server whose ``tool`` searches beside the web: one at a ``url``, or one that ``command`` starts.

    ``arguments`` are those of the tool, in which ``{query}`` stands for what is searched for and ``{top_k}`` for how
    many results are wanted. In values of ``headers`` and ``env``, ``${NAME}`` stands for that variable of the
    environment.
    """

    # The length apart from the pattern: a count of fifty within it takes 20 ms to compile.
    name: Annotated[str, Field(max_length=50, pattern=r"^[\w.-]+$")]
    url: str | None = None
    headers: dict[str, Annotated[SecretStr, AfterValidator(_resolved), AfterValidator(sendable_key)]] = {}
    command: str | None = None
    args: list[str] = []
    env: dict[str, Annotated[SecretStr, AfterValidator(_resolved)]] = {}
    tool: Annotated[str, Field(min_length=1, max_length=200)]
    arguments: dict[str, Any] = {"query": "{query}"}

    @field_validator("url")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        return str(value) if value and TypeAdapter(HttpUrl).validate_python(value) else None

    @model_validator(mode="after")
    def _one_way(self) -> "McpServerSettings":
        if (self.url is None) == (self.command is None):
            raise ValueError("an MCP server has either a url or a command")
        if self.url is not None and (self.args or self.env):
            raise ValueError("args and env are for an MCP server that a command starts")
        if self.command is not None and self.headers:
            raise ValueError("headers are for an MCP server at a url")
        return self
