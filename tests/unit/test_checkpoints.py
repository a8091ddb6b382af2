"""CVE-2026-28277: a checkpoint's msgpack extension names a callable, which the permissive default imports and calls."""

import ormsgpack
import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Overwrite

from graph.rows import SourceRow
from tools.sessions.checkpoints import BUILTINS_ONLY

POSITIONAL_CALL = 1
FORGED = ("msgpack", ormsgpack.packb(ormsgpack.Ext(POSITIONAL_CALL, ormsgpack.packb(("os", "getcwd", ())))))


def test_forged_bytes_call_nothing(caplog: pytest.LogCaptureFixture) -> None:
    permissive = JsonPlusSerializer(allowed_msgpack_modules=True)
    assert isinstance(permissive.loads_typed(FORGED), str), "the forgery must work somewhere to prove anything"
    assert not isinstance(BUILTINS_ONLY.loads_typed(FORGED), str)
    assert "Blocked" in caplog.text


def test_what_state_holds_comes_back_as_it_was() -> None:
    rows = [SourceRow(index=0, segment_id="doc:1", kind="search", score=0.5)]
    assert BUILTINS_ONLY.loads_typed(BUILTINS_ONLY.dumps_typed(rows)) == rows
    assert BUILTINS_ONLY.loads_typed(BUILTINS_ONLY.dumps_typed(Overwrite(rows))) == Overwrite(rows)
