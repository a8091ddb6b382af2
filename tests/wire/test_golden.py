"""What goes over the wire, byte for byte: every event in each dialect, and a whole run of the extractive family.

Where a change is wanted, the failing test names the file that holds the new stream; look at it, then copy it over the
golden one.
"""

import re
from pathlib import Path

import pytest

from api.app import create_app
from api.dialects import DIALECTS
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, new_session
from tests.api.serving import client_of
from tests.wire.script import envelopes
from tools.settings import Settings

GOLDEN = Path(__file__).parent / "golden"


def assert_golden(name: str, told: bytes, scratch: Path) -> None:
    assert b"\r" not in told
    (scratch / name).write_bytes(told)
    golden = GOLDEN / name
    assert golden.exists(), f"no {golden.name} yet; the stream is in {scratch / name}"
    assert told.decode() == golden.read_text("utf-8"), f"the new stream is in {scratch / name}"


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_event_in_every_dialect(dialect: str, tmp_path: Path) -> None:
    speaker = DIALECTS[dialect]()
    assert_golden(f"{dialect}_events.sse", b"".join(map(speaker.speak, envelopes())), tmp_path)


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("answered", "How many days of annual leave does an employee get?"),
        ("small_talk", "Hello!"),
        ("abstained", "Who won the chess championship of 1972?"),
    ],
)
async def test_a_run_of_the_extractive_family(name: str, question: str, settings: Settings, tmp_path: Path) -> None:
    # A title is told whenever it is there, and a golden stream is in one order.
    async with open_citewell(settings.model_copy(update={"auto_title": False})) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(settings, citewell=citewell)) as client:
            session_id = await new_session(client)
            response = await client.post(f"/api/sessions/{session_id}/runs", json={"question": question})
    assert_golden(f"native_{name}.sse", normal(response.content), tmp_path)


def normal(stream: bytes) -> bytes:
    """Put names in the place of what differs from run to run, or from processor to processor."""
    for key, name in [("run_id", b"RUN"), ("session_id", b"SESSION"), ("message_id", b"MESSAGE")]:
        found = re.search(rb'"%b":"([0-9a-f-]{36})"' % key.encode(), stream)
        assert found is not None
        stream = stream.replace(found[1], name)
    stream = re.sub(rb'"at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"', b'"at":"AT"', stream)
    stream = re.sub(rb'"ms":[\d.]+', b'"ms":0', stream)
    return with_deltas_joined(re.sub(rb'"score":[\d.]+', b'"score":0', stream))


DELTA = re.compile(rb'id: RUN:\d+\nevent: text_delta\ndata: (\{.*"section_index":\d+,"delta":")(.*)"\}\n\n')


def with_deltas_joined(stream: bytes) -> bytes:
    """Write deltas that follow each other as one, and count the frames anew: how many there are is a matter of time."""
    frames: list[bytes] = []
    for frame in re.findall(rb"(?s).*?\n\n", stream):
        told, before = DELTA.fullmatch(frame), DELTA.fullmatch(frames[-1]) if frames else None
        if told and before:
            frames[-1] = frames[-1].removesuffix(b'"}\n\n') + told[2] + b'"}\n\n'
        else:
            frames.append(frame)
    counted = enumerate(frames, start=1)
    return b"".join(re.sub(rb'(^id: RUN:|"seq":)\d+', rb"\g<1>%d" % n, frame) for n, frame in counted)
