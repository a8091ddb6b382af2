"""The runs of ``tools/runs``."""

from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from tools.settings.section import Section


class RunSettings(Section):
    """Limits on the runs of a process, and how processes hear of each other's.

    On shutdown a process waits ``drain_seconds`` for its runs to finish before it leaves them to others. Processes
    notify each other of events by PostgreSQL, or by the NATS server at ``nats_url``.
    """

    max_active: Annotated[int, Field(ge=1, le=1000)] = 16
    drain_seconds: Annotated[float, Field(ge=0, le=300)] = 5.0
    nats_url: SecretStr | None = None

    @field_validator("nats_url")
    @classmethod
    def _nats_address(cls, value: SecretStr | None) -> SecretStr | None:
        address = "" if value is None else value.get_secret_value()
        if not address:
            return None
        if not address.startswith(("nats://", "tls://")):
            raise ValueError("the address of a NATS server begins with nats:// or tls://")
        return value
