"""The id_citations dialect on the wire: the frames of a streamed answer, byte for byte."""

import re
from pathlib import Path

import httpx
import pytest

from tests.wire.seed_streams import LEAVE, QUESTIONS, client, failing_client, named
from tests.wire.test_golden import assert_golden

__all__ = ["client", "failing_client"]

PATH = "/api/workspaces/default/messages"


def body(question: str) -> dict[str, str | bool]:
    return {"content": question, "stream": True}


def normal(stream: bytes) -> bytes:
    return re.sub(rb'"created_at":"[^"]+Z"', b'"created_at":"AT"', named(stream))


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_run_byte_for_byte(name: str, client: httpx.AsyncClient, tmp_path: Path) -> None:
    response = await client.post(PATH, json=body(QUESTIONS[name]))
    assert_golden(f"id_citations_{name}.sse", normal(response.content), tmp_path)


async def test_a_failure_byte_for_byte(failing_client: httpx.AsyncClient, tmp_path: Path) -> None:
    response = await failing_client.post(PATH, json=body(LEAVE))
    assert_golden("id_citations_failed.sse", normal(response.content), tmp_path)
