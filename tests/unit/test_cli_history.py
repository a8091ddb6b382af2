"""A stored conversation on the terminal: what was said, and which other versions there are."""

import io
from datetime import UTC, datetime

from rich.console import Console

from cli.rendering.transcript import show_history
from tools.sessions.session_store import History, Session, StoredMessage

NOW = datetime(2026, 11, 22, tzinfo=UTC)
SESSION = Session("s", "Leave\x1b[2J", [], False, "native", None, NOW, NOW)


def test_other_versions_of_a_message_are_named() -> None:
    section = {"text": "25 days.", "source_ids": []}
    question = StoredMessage("q", None, None, "user", "How many?", {}, None, None, NOW, ["q"])
    answer = StoredMessage(
        "b", None, "q", "assistant", "25 days.", {"sections": [section]}, "answered", "answer_complete", NOW, ["a", "b"]
    )
    console = Console(file=io.StringIO(), width=80, color_system=None, markup=False)
    show_history(console, History(SESSION, [question, answer], None))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert shown.splitlines() == [
        "Leave␛[2J",
        "",
        "> How many?",
        "",
        "  25 days.",
        "  Version 2 of 2. Others: --branch a",
    ]
