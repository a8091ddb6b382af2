"""The metrics of ``tools/telemetry``."""

from pydantic import field_validator

from tools.settings.section import Section


class MetricsSettings(Section):
    """Where `/metrics` is served: by the ``app`` to valid credentials, at ``host:port`` to anybody, or ``off``.

    `citewell worker` has no app; it serves them only at an address.
    """

    listen: str = "app"

    @field_validator("listen")
    @classmethod
    def _place(cls, value: str) -> str:
        host, _, port = value.rpartition(":")
        if value not in ("app", "off") and not (host and port.isdecimal() and int(port) <= 65535):
            raise ValueError("must be app, off, or host:port such as 127.0.0.1:9464")
        return value

    @property
    def address(self) -> tuple[str, int] | None:
        """The host and port of their own, if they have one."""
        host, _, port = self.listen.rpartition(":")
        return (host, int(port)) if port.isdecimal() else None
