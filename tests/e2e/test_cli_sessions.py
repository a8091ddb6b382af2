"""citewell sessions and expire, as processes."""

from cli.command import Exit
from tests.e2e.conftest import Home


def test_a_session_is_renamed_read_by_branch_and_kept_while_it_is_used(home: Home) -> None:
    asked = home.citewell("ask", "Hello!", "--json").json
    renamed = home.citewell("sessions", "rename", asked["session_id"], " My\tloom ", "--json").json
    assert renamed["session"]["title"] == "My loom"
    branch = home.citewell("sessions", "show", asked["session_id"], "--branch", asked["message_id"], "--json").json
    assert branch["session"]["title"] == "My loom"
    assert branch["messages"][-1]["message_id"] == asked["message_id"]
    swept = home.citewell("expire", "--json")
    assert (swept.code, swept.json["days"], swept.json["sessions"]) == (Exit.OK, 7, 0)
