"""citewell sessions, export and expire, as processes."""

import zipfile

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


def test_a_session_and_an_answer_are_written_as_files(home: Home) -> None:
    asked = home.citewell("ask", "Hello!", "--json").json
    session = asked["session_id"]
    home.citewell("sessions", "rename", session, "A/B: 织机")
    written = home.citewell("export", session, "--format", "docx", "--language", "vi", "--json").json
    assert written["file"] == "A B 织机.docx"
    assert (home.folder / written["file"]).stat().st_size == written["bytes"]
    with zipfile.ZipFile(home.folder / written["file"]) as parts:
        assert "word/footnotes.xml" in parts.namelist()
    shown = home.citewell("export", session, "--message", asked["message_id"], "--out", "-")
    assert (shown.code, shown.out.splitlines()[0]) == (Exit.OK, "# A/B: 织机")
    report = home.citewell("export", session, "--format", "html", "--out", "report.html")
    assert (report.code, "Written to report.html." in report.err) == (Exit.OK, True)
    assert "Content-Security-Policy" in (home.folder / "report.html").read_text("utf-8")
    for arguments, code in (
        (["export", asked["message_id"]], Exit.NOT_FOUND),
        (["export", session, "--format", "pdf"], Exit.USAGE),
        (["export", session, "--out", "no/such/folder.md"], Exit.USAGE),
        (["export", session, "--out", "-", "--json"], Exit.USAGE),
    ):
        assert home.citewell(*arguments).code == code, arguments
