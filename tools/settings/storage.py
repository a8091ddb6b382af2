"""The standby of ``tools/storage``."""

from pydantic import SecretStr, field_validator

from tools.settings.section import Section


class ReplicaSettings(Section):
    """A standby of the database that answers searches and readings; without ``url`` the primary does."""

    url: SecretStr | None = None

    @field_validator("url", mode="before")
    @classmethod
    def _unset(cls, value: object) -> object:
        return None if value == "" else value
