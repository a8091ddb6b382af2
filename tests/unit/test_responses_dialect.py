"""Responses of any run: the order of events, spans that hold the claims that they are for, and streams joined again."""

import json
from itertools import groupby
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from api.dialects.citation_marks import JOINER
from api.dialects.responses.encoder import ResponsesEncoder
from api.dialects.responses.schemas import ResponseOptions
from graph.events import Envelope
from tests.api.reading import parse_frames
from tests.unit.test_openai_dialect import assert_numbers_lead_to_what_is_cited, ended
from tests.wire.runs import broken_runs, cancelled_runs, is_revised, rewritten_runs, runs

ANY_RUN = st.one_of(runs(), broken_runs(), cancelled_runs(), rewritten_runs())
ENDS = {"completed": "response.completed", "cancelled": "response.incomplete", "failed": "response.failed"}


def events_of(log: list[Envelope], options: ResponseOptions | None = None) -> list[dict[str, Any]]:
    dialect = ResponsesEncoder(options)
    frames = parse_frames(b"".join(map(dialect.encode, log)).decode())
    events = [json.loads(frame["data"]) for frame in frames]
    assert [frame["event"] for frame in frames] == [event["type"] for event in events]
    return events


def message_of(response: dict[str, Any]) -> dict[str, Any]:
    parts = [part for item in response["output"] if item["type"] == "message" for part in item["content"]]
    return parts[0] if parts else {"text": "", "annotations": []}


@given(log=ANY_RUN)
def test_events_are_numbered_and_every_item_is_added_once_and_done_once(log: list[Envelope]) -> None:
    events = events_of(log)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    end = events[-1]
    assert end["type"] == ENDS[end["response"]["status"]]
    items = [(event["type"].rpartition(".")[2], event["item"]["id"]) for event in events if "item" in event]
    ids = list(dict.fromkeys(id_ for _, id_ in items))
    assert items == [(change, id_) for id_ in ids for change in ("added", "done")]
    places = [event["output_index"] for event in events if "output_index" in event]
    assert [place for place, _ in groupby(places)] == list(range(len(ids)))
    if end["type"] != "response.failed":
        assert [item["id"] for item in end["response"]["output"]] == ids


@given(log=ANY_RUN)
def test_the_deltas_are_the_text_and_its_annotations_are_those_of_the_response(log: list[Envelope]) -> None:
    events = events_of(log)
    text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    added = [event for event in events if event["type"] == "response.output_text.annotation.added"]
    assert [event["annotation_index"] for event in added] == list(range(len(added)))
    if events[-1]["type"] != "response.failed":
        message = message_of(events[-1]["response"])
        assert (message["text"], message["annotations"]) == (text, [event["annotation"] for event in added])


@given(log=runs())
def test_each_span_is_a_cited_claim_and_the_whole_response_is_that_of_the_stream(log: list[Envelope]) -> None:
    end = ended(log)
    claims = {claim["text"] for claim in end.message.get("claims", []) if claim["citations"]}
    dialect = ResponsesEncoder()
    streamed = json.loads(parse_frames(b"".join(map(dialect.encode, log)).decode())[-1]["data"])["response"]
    whole = json.loads(json.dumps(dialect.finished(end)))
    message = message_of(whole)
    for each in message["annotations"]:
        assert message["text"][each["start_index"] : each["end_index"]].replace(JOINER, "") in claims
    if not is_revised(log):
        assert whole == streamed


@given(log=runs())
def test_a_number_is_the_place_of_its_source_among_the_addresses_that_are_cited(log: list[Envelope]) -> None:
    assume(not is_revised(log))
    message = message_of(events_of(log)[-1]["response"])
    cited = [each["url"] for each in message["annotations"] if each["type"] == "url_citation"]  # what clients list
    sources = list(dict.fromkeys(cited))
    assert cited[: len(sources)] == sources
    assert_numbers_lead_to_what_is_cited(message["text"], sources, ended(log).message)


@given(log=ANY_RUN, data=st.data())
def test_a_stream_that_is_joined_again_goes_on_behind_the_last_event(log: list[Envelope], data: st.DataObject) -> None:
    events = events_of(log)
    after = data.draw(st.integers(-1, len(events) + 2))
    assert events_of(log, ResponseOptions(after=after)) == (events[after + 1 :] or events[-1:])
