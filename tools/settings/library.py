"""How ``tools/library`` reads files, and how many texts of a document it keeps."""

from typing import Annotated

from pydantic import Field

from tools.settings.section import Section


class JobSettings(Section):
    """How files are read and stored: by how many processes, within which limits, and how many may wait.

    A server reads ``workers`` files at once, each in a process of its own; with 0 it leaves them to `citewell worker`.
    A file is refused if reading takes longer than ``file_seconds`` or more memory than ``file_megabytes``, or if it is
    larger than ``max_pages`` or ``max_characters``. The upload of one document waits ``wait_seconds`` for its end. A
    user may have ``max_waiting`` files and ``max_waiting_bytes`` waiting. Jobs that ended are kept for ``keep_days``.
    """

    workers: Annotated[int, Field(ge=0, le=64)] = 2
    file_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    file_megabytes: Annotated[int, Field(ge=256, le=1_000_000)] = 1024
    max_pages: Annotated[int, Field(ge=1)] = 10_000
    max_characters: Annotated[int, Field(ge=1000)] = 20_000_000
    wait_seconds: Annotated[float, Field(ge=0, le=60)] = 10.0
    max_waiting: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    max_waiting_bytes: Annotated[int, Field(ge=1_000_000)] = 2_000_000_000
    lease_seconds: Annotated[float, Field(ge=1, le=600)] = 30.0
    keep_days: Annotated[int, Field(ge=1, le=3650)] = 7


class VersionSettings(Section):
    """How many replaced texts of a document are kept, and for how many days; with ``keep`` 0, none."""

    keep: Annotated[int, Field(ge=0, le=1000)] = 10
    days: Annotated[int, Field(ge=1, le=3650)] = 30
