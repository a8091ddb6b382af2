"""What stands beside the database: a standby, and an index of vectors."""

from typing import Annotated
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import SecretStr, field_validator

from tools.settings.section import Section, Unset, sendable_key


class ReplicaSettings(Section):
    """A standby of the database that answers searches and readings; without ``url`` the primary does."""

    url: Annotated[SecretStr | None, Unset] = None


class MilvusSettings(Section):
    """A Milvus server, or a file of milvus-lite, that names candidates of searches; off without ``url``.

    ``url`` is ``http://user:password@host:19530/database``, of which a token may stand in the place of user and
    password, or a path that ends in .db, which one process alone may use. It is asked once
    `citewell reindex --to milvus` has filled it.
    """

    url: SecretStr | None = None

    @field_validator("url")
    @classmethod
    def _address(cls, value: SecretStr | None) -> SecretStr | None:
        address = "" if value is None else value.get_secret_value()
        if not address:
            return None
        if not address.startswith(("http://", "https://")) and not (address.endswith(".db") and "://" not in address):
            raise ValueError("it is an http or https address, or the path of a file that ends in .db")
        sendable_key(SecretStr(_token(urlsplit(address))))
        return value

    @property
    def address(self) -> str:
        """The address of the server, without what it is asked with, or the path of the file."""
        scheme, host, path = self._parts.scheme, self._parts.netloc.rpartition("@")[2], self._parts.path
        return f"{scheme}://{host}" if scheme else path

    @property
    def token(self) -> str:
        """The token, or ``user:password``, as Milvus takes it."""
        return _token(self._parts)

    @property
    def database(self) -> str:
        """The database of the server, "" for its usual one."""
        return self._parts.path.strip("/") if self._parts.scheme else ""

    @property
    def _parts(self) -> SplitResult:
        return urlsplit("" if self.url is None else self.url.get_secret_value())


def _token(parts: SplitResult) -> str:
    return ":".join(unquote(each) for each in (parts.username, parts.password) if each is not None)
