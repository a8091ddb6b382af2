"""How ``tools/library`` reads files, and how many texts of a document it keeps."""

from typing import Annotated

from pydantic import Field

from tools.settings.section import Section


class JobSettings(Section):
    """How files are read: by how many processes, and within which limits.

    A server reads ``workers`` files at once, each in a process of its own; with 0 it leaves them to `citewell worker`.
    A file is refused if reading takes longer than ``file_seconds``.
    """

    workers: Annotated[int, Field(ge=0, le=64)] = 2
    file_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0


class VersionSettings(Section):
    """How many replaced texts of a document are kept; with 0, none."""

    keep: Annotated[int, Field(ge=0, le=1000)] = 10
