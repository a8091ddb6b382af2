"""Sessions in memory and as JSON: what is kept is bounded, and what is sent has the fields of its schema."""

import json
from datetime import UTC, datetime
from typing import Any

from api.dialects.native.schemas import SessionDetail, SessionMessage, detail_as_json, message_as_json
from tools.sessions.history import BranchMessage, StoredMessage
from tools.sessions.message_reader import Encoded, KnownMessage, RecentMessages
from tools.sessions.session_rows import Session
from tools.sessions.session_store import EncodedHistory

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def known(message_id: str, size: int = 10_000, *, version: str = "1") -> KnownMessage:
    place = BranchMessage(message_id, version, [message_id], None)
    return KnownMessage(
        message_id=message_id,
        version=version,
        run_id=None,
        stop_reason=None,
        created_at=NOW,
        documents=frozenset(),
        brought=frozenset(),
        segments=(),
        size=size,
        message=None,
        encoded=Encoded(message_as_json, place, b"x" * size),
    )


def test_the_messages_that_were_not_read_for_longest_are_dropped() -> None:
    recent = RecentMessages(most=25_000)
    for message_id in "abac":
        recent.keep([known(message_id)])
    assert list(recent.of("abc")) == ["a", "c"]
    recent.keep([])
    recent.keep([known("large", size=100_000)])
    assert recent.of(["a", "c", "large"]) == {}
    recent.keep([known("b")])
    assert list(recent.of("abc")) == ["b"]


def test_a_message_that_is_kept_again_takes_its_room_once() -> None:
    recent = RecentMessages(most=25_000)
    for version in "1234":
        recent.keep([known("1", version=version), known("2", version=version)])
    assert [each.version for each in recent.of("12").values()] == ["4", "4"]


def test_forgotten_messages_leave_their_room_to_others() -> None:
    recent = RecentMessages(most=25_000)
    recent.keep([known("a"), known("b")])
    recent.forget(["a", "never kept"])
    recent.keep([known("c")])
    assert list(recent.of("abc")) == ["b", "c"]


def test_a_message_is_sent_again_only_where_nothing_of_it_would_differ() -> None:
    message, place = known("1"), BranchMessage("1", "1", ["1"], None)
    assert message.encoded_as(place, message_as_json) == b"x" * 10_000
    others = [
        BranchMessage("1", "2", ["1"], None),
        BranchMessage("1", "1", ["1", "2"], None),
        BranchMessage("1", "1", ["1"], {"rating": "up"}),
    ]
    assert [message.serves(each, message_as_json) for each in (place, *others)] == [True, False, False, False]
    assert not message.serves(place, lambda _: b"")
    assert not message.serves(place, None)


def test_a_history_as_json_has_the_fields_of_its_schema_in_their_order() -> None:
    session = Session("s", "Title", [], False, "native", None, NOW, NOW)
    answer: dict[str, Any] = {
        "answer": "Yes.",
        "sections": [{"text": "Yes.", "source_ids": []}],
        "of_a_later_release": 1,
    }
    messages = [
        StoredMessage("q", "r", None, "user", "Is it?", {"page_ids": ["p"], "selected_text": "é"}, None, None, NOW),
        StoredMessage("a", "r", "q", "assistant", "Yes.", answer, "answered", "answer_complete", NOW, ["a", "b"]),
    ]
    written = detail_as_json(EncodedHistory(session, [message_as_json(each) for each in messages], None))
    assert SessionDetail.model_validate_json(written).model_dump_json().encode() == written
    assert [list(each) for each in json.loads(written)["messages"]] == [list(SessionMessage.model_fields)] * 2
    assert json.loads(detail_as_json(EncodedHistory(session, [], "c")))["messages"] == []
