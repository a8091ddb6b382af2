"""citewell sync as people use it: a folder that changes, what is said of it, and when it asks."""

import signal
import subprocess

from cli.command import Exit
from tests.e2e.conftest import BIN, Home, Writer


def paths(home: Home, workspace: str, *by: str) -> dict[str, str]:
    """Give the document of each path."""
    listed = home.citewell("documents", "list", "-w", workspace, "--json", *by).json["documents"]
    return {place["path"]: document["document_id"] for document in listed for place in document["places"]}


def test_a_folder_is_followed_and_every_change_is_said(home: Home, write: Writer) -> None:
    lamp = write("light/lamp.md", "The lamp of the lighthouse turns once in nine seconds.")
    write("light/signals/horn.md", "The fog horn sounds twice a minute.")
    write("light/empty.md", "")
    trial = home.citewell("sync", "light", "-w", "light", "--dry-run")
    assert trial.code == Exit.OK
    assert trial.out.splitlines()[-1] == "Would be: 3 new."
    first = home.citewell("sync", "light", "-w", "light", "--space", "coast")
    assert first.code == Exit.REFUSED
    assert first.out.splitlines()[-1] == "2 new, 1 unreadable."
    assert "empty.md" in first.err
    before = paths(home, "light")

    lamp.rename(lamp.with_name("light.md"))
    write("light/signals/copy.md", "The fog horn sounds twice a minute.")
    again = home.citewell("sync", "light", "-w", "light", "--json")
    assert again.code == Exit.OK
    assert list(again.json) == [
        "source_id", "dry_run", "at", "seconds", "counts", "files", "notes", "problem",
    ]  # fmt: skip
    told = {file["path"]: (file["change"], file["previous"]) for file in again.json["files"]}
    assert told == {"light.md": ("moved", "lamp.md"), "signals/copy.md": ("copied", None)}
    horn = before["signals/horn.md"]
    assert paths(home, "light") == {"light.md": before["lamp.md"], "signals/horn.md": horn, "signals/copy.md": horn}
    assert paths(home, "light", "--path", "*light*").keys() == {"light.md"}

    [source] = home.citewell("sources", "list", "-w", "light", "--json").json["sources"]
    assert (source["kind"], source["documents"], source["options"]) == ("folder", 2, {"space": "coast"})
    assert paths(home, "light", "--source", source["source_id"]) == paths(home, "light")
    shown = home.citewell("documents", "show", horn, "-w", "light").out
    assert "signals/copy.md (folder" in shown
    gone = home.citewell("sources", "delete", source["source_id"], "-w", "light", "--yes", "--json").json
    assert gone["documents_deleted"] == 2


def test_many_deletions_need_a_yes(home: Home, write: Writer) -> None:
    pages = [write(f"pages/{number}.md", f"Page {number} of the log book.") for number in range(12)]
    assert home.citewell("sync", "pages", "-w", "pages").out.splitlines()[-1] == "12 new."
    for page in pages[1:]:
        page.unlink()
    refused = home.citewell("sync", "pages", "-w", "pages", "--json")
    assert refused.code == Exit.USAGE
    assert "--yes" in refused.json["error"]["suggestion"]
    [source] = home.citewell("sources", "list", "-w", "pages", "--json").json["sources"]
    problem = source["report"]["problem"]
    assert problem == refused.json["error"]
    [row] = home.citewell("sources", "list", "-w", "pages").out.splitlines()
    assert row.split("\t")[-1] == problem["message"]
    assert len(paths(home, "pages")) == 12
    done = home.citewell("sync", "pages", "-w", "pages", "--yes")
    assert done.out.splitlines()[-1] == "1 unchanged, 11 gone, 11 documents deleted."
    pages[0].parent.joinpath("0.md").unlink()
    pages[0].parent.rmdir()
    assert home.citewell("sync", "pages", "-w", "pages").code == Exit.USAGE
    assert len(paths(home, "pages")) == 1


def test_a_watched_folder_is_followed_until_it_is_interrupted(home: Home, write: Writer) -> None:
    write("watched/lamp.md", "The lamp of the lighthouse turns once in nine seconds.")
    watching = subprocess.Popen(
        [str(BIN / "citewell"), "sync", "watched", "-w", "watched", "--watch", "--every", "5"],
        cwd=home.folder,
        env=home.environment | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert watching.stdout is not None
    lines = iter(watching.stdout.readline, "")
    try:
        assert "1 new.\n" in lines
        write("watched/horn.md", "The fog horn sounds twice a minute.")
        assert "1 new, 1 unchanged.\n" in lines
    finally:
        watching.send_signal(signal.SIGTERM)
        watching.wait()
        watching.stdout.close()
    assert watching.returncode == Exit.TERMINATED
    assert paths(home, "watched").keys() == {"lamp.md", "horn.md"}


def test_a_source_keeps_its_readers_until_others_are_named(home: Home, write: Writer) -> None:
    write("desk/safe.md", "The safe of the office opens on Mondays.")
    made = home.citewell("sync", "desk", "-w", "desk", "--reader", "group:legal", "--reader", "user:ann", "--json").json
    assert home.citewell("documents", "list", "-w", "desk", "--json").json["documents"] == []
    assert home.citewell("sources", "list", "-w", "desk", "--json").json["sources"] == []
    [document] = home.citewell("documents", "list", "-w", "desk", "-u", "ann", "--json").json["documents"]
    assert document["readers"] == ["group:legal", "user:ann"]
    table = home.citewell("documents", "list", "-w", "desk", "-u", "ann").out
    assert "group:legal, user:ann" in table
    write("desk/safe.md", "The safe of the office opens on Tuesdays.")
    again = home.citewell("sync", "desk", "-w", "desk", "--json").json
    assert (again["source_id"], again["counts"]["changed"]) == (made["source_id"], 1)
    assert paths(home, "desk") == {}
    opened = home.citewell("sync", "desk", "-w", "desk", "--reader", "everyone", "--json").json
    assert opened["source_id"] == made["source_id"]
    assert paths(home, "desk") == {"safe.md": document["document_id"]}
    wrong = home.citewell("sync", "desk", "-w", "desk", "--reader", "legal")
    assert wrong.code == Exit.USAGE
    assert "'legal' is no reader" in wrong.err
