"""Bodies of stored messages in memory: what is made of one is made once, and there are never too many."""

import json
from datetime import UTC, datetime

from api.dialects.native.schemas import SessionDetail, SessionMessage, detail_as_json
from tools.library.stored_bodies import RecentBodies, StoredBody, once
from tools.sessions.history import History, StoredMessage
from tools.sessions.session_rows import Session

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_what_is_made_of_a_stored_body_is_made_once() -> None:
    asked: list[dict[str, object]] = []

    def made(body: dict[str, object]) -> int:
        asked.append(body)
        return len(body)

    stored, plain = StoredBody.parse('{"answer": "Yes."}'), {"answer": "Yes."}
    assert [once(each, made) for each in (stored, stored, plain, plain)] == [1, 1, 1, 1]
    assert asked == [stored, plain, plain]


def test_the_sessions_that_were_not_read_for_longest_are_dropped() -> None:
    body = StoredBody.parse(json.dumps({"answer": "x" * 86}))  # 100 characters
    recent = RecentBodies(most=250)
    for session_id in ("a", "b", "a", "c"):
        recent.keep(session_id, {"1": body} | recent.of(session_id))
    assert [bool(recent.of(each)) for each in "abc"] == [True, False, True]
    recent.keep("a", {"1": body, "2": body, "3": body})
    assert [list(recent.of(each)) for each in "abc"] == [["2", "3"], [], []]  # too long by itself
    recent.keep("b", {"1": body, "2": body})
    assert len(recent.of("b")) == 2
    recent.forget("b")
    assert recent.of("b") == {}


def test_a_history_as_json_has_the_fields_of_its_schema_in_their_order() -> None:
    session = Session("s", "Title", [], False, "native", None, NOW, NOW)
    answer = {"answer": "Yes.", "sections": [{"text": "Yes.", "source_ids": []}], "of_a_later_release": 1}
    messages = [
        StoredMessage("q", "r", None, "user", "Is it?", {"page_ids": ["p"], "selected_text": "é"}, None, None, NOW),
        StoredMessage("a", "r", "q", "assistant", "Yes.", answer, "answered", "answer_complete", NOW, ["a", "b"]),
    ]
    written = detail_as_json(History(session, messages, None))
    assert SessionDetail.model_validate_json(written).model_dump_json().encode() == written
    assert [list(each) for each in json.loads(written)["messages"]] == [list(SessionMessage.model_fields)] * 2
