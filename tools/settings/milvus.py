"""The Milvus of ``tools/milvus``."""

from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from tools.settings.section import Section, sendable_key


class MilvusSettings(Section):
    """A Milvus server, or a file of milvus-lite, that names candidates of searches; off without ``url``.

    ``url`` is an address, or a path that ends in .db, which one process alone may use. It is asked once
    `citewell reindex --to milvus` has filled it. Names of its collections begin with ``prefix``.
    """

    url: str | None = None
    token: SecretStr = SecretStr("")
    prefix: Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z_]\w*$")] = "citewell"

    @field_validator("url")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if not value:
            return None
        if not value.startswith(("http://", "https://")) and not (value.endswith(".db") and "://" not in value):
            raise ValueError("it is an http or https address, or the path of a file that ends in .db")
        if "@" in value.partition("://")[2]:
            raise ValueError("a name and a password belong into milvus.token, as name:password")
        return value

    @field_validator("token")
    @classmethod
    def _sendable(cls, value: SecretStr) -> SecretStr:
        return sendable_key(value)
