"""A question of the command line, as one process hands it to another."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``citewell ask`` was called with; ``options`` are those of a run's Context, all of it JSON-able."""

    question: str
    selected_text: str
    session: str | None
    pages: list[str]
    options: dict[str, object]
    workspace: str | None
    user: str | None
    as_json: bool
