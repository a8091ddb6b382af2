"""Ray, on which ``tools/bulk`` works."""

from typing import Annotated

from pydantic import Field, field_validator

from tools.settings.section import Section


class RaySettings(Section):
    """How `--on ray` works: on the cluster at ``address``, or without one on Ray processes of this machine.

    At most ``tasks`` files are read at once, or pages embedded; without it, as many as this machine has processors.
    ``shared_paths`` says that every node of the cluster sees the files under the paths that the command names; else
    their bytes wait in the database.
    """

    address: Annotated[str, Field(max_length=500)] = ""
    tasks: Annotated[int | None, Field(ge=1, le=10_000)] = None
    shared_paths: bool = False

    @field_validator("address")
    @classmethod
    def _direct(cls, value: str) -> str:
        if value.startswith("ray://"):
            raise ValueError("Ray's client is not supported: name the head as host:6379, and run the command beside it")
        return value
