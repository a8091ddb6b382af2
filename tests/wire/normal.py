"""Streams with names in the place of what differs from run to run, or from processor to processor."""

import re

from tests.api.conftest import LIBRARY

_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SCORE = re.compile(rb'("(?:score|answerhood|relevanceScore|relevance_score|similarity)":|"distances":\[)[\d.]+')
_DELTA = re.compile(rb'id: ID\d+:\d+\nevent: text_delta\ndata: (\{.*"section_index":\d+,"delta":")(.*)"\}\n\n')
_THOUGHT = re.compile(rb'data: (\{"type":"(?:REASONING_MESSAGE_CONTENT|reasoning-delta)",.*"delta":")(.*)"\}\n\n')
_KNOWN = {str(document.document_id).encode() for document in LIBRARY}


def normal(stream: bytes) -> bytes:
    """Name ids in the order in which they come, but for those of the library, and leave out scores, times and places.

    How many deltas a text comes in is a matter of time, and so are the places in the log behind them.
    """
    for number, found in enumerate(dict.fromkeys(_UUID.findall(stream)), start=1):
        if found not in _KNOWN:
            stream = stream.replace(found, b"ID%d" % number)
    stream = re.sub(rb'"(at|created_at)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"', rb'"\1":"AT"', stream)
    stream = re.sub(rb"(added|changed) \d{4}-\d\d-\d\d", rb"\1 DAY", stream)
    stream = re.sub(rb'"(ms|created|created_at|completed_at)":[\d.]+', rb'"\1":0', stream)
    stream = re.sub(rb"http://127\.0\.0\.1:\d+", b"http://citewell", stream)
    stream = with_deltas_joined(_SCORE.sub(rb"\g<1>0", stream))
    return re.sub(rb'((?m:^)id: ID\d+:|"seq":)\d+', rb"\1SEQ", stream)


def with_deltas_joined(stream: bytes) -> bytes:
    """Write deltas that follow each other as one."""
    frames: list[bytes] = []
    for frame in re.findall(rb"(?s).*?\n\n", stream):
        last = frames[-1] if frames else b""
        pairs = [(kind.fullmatch(frame), kind.fullmatch(last)) for kind in (_DELTA, _THOUGHT)]
        if told := next((now for now, before in pairs if now and before), None):
            frames[-1] = frames[-1].removesuffix(b'"}\n\n') + told[2] + b'"}\n\n'
        else:
            frames.append(frame)
    return b"".join(frames)
