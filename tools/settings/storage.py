"""The standby of ``tools/storage``."""

from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from tools.settings.section import Section


class ReplicaSettings(Section):
    """A standby of the database that answers searches and readings; without ``url`` the primary does.

    A reading waits ``wait_seconds`` at most until the standby has replayed all that was acknowledged before it, and is
    the primary's then. One that is ``most_lag_seconds`` behind is not asked until it has caught up.
    """

    url: SecretStr | None = None
    wait_seconds: Annotated[float, Field(ge=0, le=5)] = 0.05
    most_lag_seconds: Annotated[float, Field(gt=0, le=3600)] = 1.0

    @field_validator("url", mode="before")
    @classmethod
    def _unset(cls, value: object) -> object:
        return None if value == "" else value
