"""The command line as scripts use it: one JSON document on stdout, stable keys, exit codes that mean something."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.command import Exit
from prompts import lines
from tests.e2e.conftest import BIN, Home, Writer
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI
from tools.confinement.landlock import landlock_version
from tools.parsers.canonical_text import passages_left_out

POTTERY = {
    "handbook.md": """# Handbook

The kiln is fired to 1,260 degrees on the first Friday of each month. Nobody opens the kiln before it has cooled for 36
hours, because glazes crack in cold air. Whoever fires the kiln writes the date, the cones and the weather into the book
by the door.
""",
    "members.md": """# Members

The pottery has 48 members, and each of them pays 30 euros a month. A new member is shown the wheels by an old one on
three evenings. Keys are given out by Ines, who also keeps the waiting list.
""",
    "clay.txt": """Clay is ordered from Westerwald in March and in September. A bag of it weighs 10 kilograms.
Used clay goes into the grey barrel, never into the sink.
""",
}

# Where the tests run as a shell's background job, SIGINT is ignored, and processes started from here inherit that.
HEARING_SIGINT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture(scope="module")
def kiln(home: Home) -> str:
    """A workspace with three documents; gives the id of the handbook."""
    (home.folder / "kiln").mkdir()
    for name, text in POTTERY.items():
        (home.folder / "kiln" / name).write_text(text, encoding="utf-8")
    done = home.citewell("ingest", "kiln", "-w", "kiln", "--json")
    assert done.code == Exit.OK
    assert done.json["counts"] == {"created": 3, "updated": 0, "unchanged": 0, "refused": 0}
    return next(str(document["document_id"]) for document in done.json["documents"] if document["title"] == "Handbook")


def test_ingesting_again_changes_nothing(home: Home, kiln: str) -> None:
    again = home.citewell("ingest", "kiln", "-w", "kiln", "--json").json
    assert [document["status"] for document in again["documents"]] == ["unchanged"] * 3
    assert kiln in [document["document_id"] for document in again["documents"]]


def test_a_broken_file_is_named_and_the_rest_go_in(home: Home, write: Writer) -> None:
    write("mixed/good.txt", "The tide table hangs in the boat house.")
    write("mixed/empty.md", "")
    done = home.citewell("ingest", "mixed", "missing.pdf", "-w", "mixed", "--json")
    assert done.code == Exit.REFUSED
    assert [Path(document["name"]).name for document in done.json["documents"]] == ["good.txt"]
    assert [Path(refused["name"]).name for refused in done.json["refused"]] == ["empty.md", "missing.pdf"]
    assert all(refused["reason"] and refused["suggestion"] for refused in done.json["refused"])
    people = home.citewell("ingest", "mixed", "missing.pdf", "-w", "mixed")
    assert people.code == Exit.REFUSED
    assert "missing.pdf" in people.err
    assert people.out == "1 unchanged, 2 refused.\n"


def test_what_a_file_lost_is_said_below_it(home: Home, write: Writer) -> None:
    write("struck/tides.md", "High tide is at noon. ~~Low tide is at one.~~")
    done = home.citewell("ingest", "struck", "-w", "struck")
    assert done.code == Exit.OK
    assert "tides.md" in done.out.splitlines()[0]
    assert done.out.splitlines()[1] == " " * 11 + passages_left_out(1)[0]
    again = home.citewell("ingest", "struck", "-w", "struck", "--json").json
    assert again["documents"][0]["left_out"] == [*passages_left_out(1)]


def test_a_dialect_decides_on_the_size_of_segments(home: Home, write: Writer) -> None:
    write("sized/tides.md", "High tide is at noon.\n\nLow tide is at six.\n\nThe boats lie in the harbour.")
    [usual] = home.citewell("ingest", "sized", "-w", "sized", "--json").json["documents"]
    done = home.citewell("ingest", "sized", "-w", "sized", "--dialect", "id_citations", "--json")
    assert (usual["segments"], done.json["documents"][0]["segments"]) == (1, 3)
    wrong = home.citewell("ingest", "sized", "-w", "sized", "--dialect", "id_citation")
    assert (wrong.code, "id_citations" in wrong.err) == (Exit.USAGE, True)


def test_the_file_of_a_document_is_written_back(home: Home, write: Writer) -> None:
    data = write("kept/tides.md", "# Tides\r\n\r\nHigh tide is at noon.\r\n").read_bytes()
    [document] = home.citewell("ingest", "kept", "-w", "kept", "--json").json["documents"]
    done = home.citewell("documents", "original", document["document_id"], "--out", "back.md", "-w", "kept", "--json")
    assert (done.code, done.json["size"], done.json["name"]) == (Exit.OK, len(data), "tides.md")
    assert (home.folder / "back.md").read_bytes() == data
    piped = home.citewell("documents", "original", document["document_id"], "-w", "kept")
    assert (piped.code, piped.out.encode()) == (Exit.OK, data.replace(b"\r\n", b"\n"))  # the pipe is read as text
    assert home.citewell("documents", "original", document["document_id"], "--json").code == Exit.USAGE
    nowhere = home.citewell("documents", "original", document["document_id"], "--out", "no/where", "-w", "kept")
    assert (nowhere.code, "no/where cannot be written" in nowhere.err) == (Exit.USAGE, True)


def test_originals_outside_of_the_database_go_with_their_workspace(home: Home, write: Writer) -> None:
    write("outside/tides.md", "High tide is at noon.")
    place = {"CITEWELL_ORIGINALS": "./kept originals"}
    [document] = home.citewell("ingest", "outside", "-w", "outside", "--json", **place).json["documents"]
    stored = [path for path in (home.folder / "kept originals").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in stored] == [b"High tide is at noon."]
    lost = home.citewell("documents", "original", document["document_id"], "--out", "x", "-w", "outside")
    assert lost.code == Exit.NOT_FOUND
    assert home.citewell("workspaces", "delete", "outside", "--yes", **place).code == Exit.OK
    assert not [path for path in (home.folder / "kept originals").rglob("*") if path.is_file()]
    healthy = home.citewell("doctor", "--json", **place).json["checks"]
    assert [check["ok"] for check in healthy if check["name"] == "originals"] == [True]
    refused = home.citewell("doctor", CITEWELL_ORIGINALS="ftp://somewhere")
    assert refused.code == Exit.CONFIGURATION


def test_addresses_inside_of_the_network_are_refused(home: Home) -> None:
    done = home.citewell("ingest", "http://127.0.0.1/manual/", "--site", "-w", "private", "--json")
    assert done.code == Exit.REFUSED
    [refused] = done.json["refused"]
    assert (refused["name"], refused["code"]) == ("http://127.0.0.1/manual/", "unreadable_document")
    assert "not a public one" in refused["reason"]
    assert home.citewell("ingest", "http://127.0.0.1/", "--site", "--sitemap").code == Exit.USAGE


def test_what_may_be_wrong_in_a_file_is_said_below_it(home: Home) -> None:
    (home.folder / "guessed").mkdir()
    text = "Die Flut kommt früh, die Ebbe spät. Schließt die Tür."
    (home.folder / "guessed" / "tides.txt").write_bytes(text.encode("cp1252"))
    done = home.citewell("ingest", "guessed", "-w", "guessed")
    assert done.code == Exit.OK
    below = " ".join(line.strip() for line in done.out.splitlines()[1:-1])
    assert below.startswith("Warning: ")
    assert "windows-1252" in below
    [again] = home.citewell("ingest", "guessed", "-w", "guessed", "--json").json["documents"]
    assert (again["status"], len(again["warnings"])) == ("unchanged", 1)


def test_one_file_under_two_names_is_one_source_and_two_documents(home: Home, write: Writer) -> None:
    text = "# Tides\n\nHigh tide at the mole is at noon.\n"
    write("twice/tides.md", text)
    write("twice/copy of tides.md", text)
    assert home.citewell("ingest", "twice", "-w", "twice").code == Exit.OK
    listed = home.citewell("documents", "list", "-w", "twice", "--json").json["documents"]
    assert sorted(Path(each["metadata"]["file_path"]).name for each in listed) == ["copy of tides.md", "tides.md"]
    found = home.citewell("search", "When is high tide at the mole?", "-w", "twice", "--json").json
    assert len(found["hits"]) == 1
    answer = home.citewell("ask", "When is high tide at the mole?", "-w", "twice", "--json").json
    assert (len(answer["sources"]), len(answer["citations"])) == (1, 1)


def test_an_answer_comes_with_its_proof(home: Home, kiln: str) -> None:
    done = home.citewell("ask", "To how many degrees is the kiln fired?", "-w", "kiln", "--json")
    assert done.code == Exit.OK
    asked = done.json
    assert list(asked) == [
        "run_id", "session_id", "message_id", "question", "standalone_question", "needs_retrieval", "family", "model",
        "outcome", "stop_reason", "answer", "sections", "citations", "sources", "nearest", "claims", "assessment",
        "disagreements", "spent", "cost",
    ]  # fmt: skip
    assert (asked["outcome"], asked["family"]) == ("answered", "extractive")
    text = home.citewell("documents", "raw", kiln, "-w", "kiln").out
    for citation in asked["citations"]:
        assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert "1,260 degrees" in asked["answer"]


def test_people_read_the_answer_on_stdout_and_the_steps_on_stderr(home: Home, kiln: str) -> None:
    done = home.citewell("ask", "To how many degrees is the kiln fired?", "-w", "kiln")
    assert "1,260 degrees" in done.out
    assert "[1] quoted from Handbook" in done.out
    assert "characters" in done.out
    assert "search_segments" not in done.out
    assert "✓ search_segments" in done.err
    assert "answered · " in done.err
    assert "\x1b" not in done.out + done.err


def test_a_session_goes_on_in_another_process_and_is_read_back(home: Home, kiln: str) -> None:
    first = home.citewell("ask", "To how many degrees is the kiln fired?", "-w", "kiln", "--json").json
    session = first["session_id"]
    second = home.process("ask", "And how long must it have cooled?", "-w", "kiln", "--session", session, "--json").json
    assert second["session_id"] == session
    assert "36 hours" in second["answer"]
    listed = home.citewell("sessions", "list", "-w", "kiln", "--json").json["sessions"]
    assert listed[0]["session_id"] == session
    shown = home.citewell("sessions", "show", session, "-w", "kiln", "--json").json
    assert [message["role"] for message in shown["messages"]] == ["user", "assistant"] * 2
    people = home.citewell("sessions", "show", session, "-w", "kiln").out
    assert "> And how long must it have cooled?" in people
    assert home.citewell("sessions", "delete", session, "-w", "kiln", "--yes", "--json").json["deleted"] is True
    assert home.citewell("sessions", "show", session, "-w", "kiln").code == Exit.NOT_FOUND


def test_an_abstention_has_a_code_of_its_own(home: Home, kiln: str) -> None:
    done = home.citewell("ask", "Who composed the national anthem of Peru?", "-w", "kiln", "--json")
    assert done.code == Exit.ABSTAINED
    assert done.json["outcome"] == "abstained"
    assert done.json["citations"] == []


def test_a_page_is_read_whole_and_alone(home: Home, kiln: str) -> None:
    done = home.citewell(
        "ask",
        "What is written into the book by the door?",
        "-w",
        "kiln",
        "--page",
        kiln,
        "--only-pages",
        "--search",
        "off",
        "--json",
    )
    assert done.json["outcome"] == "answered"
    assert {source["kind"] for source in done.json["sources"]} == {"page"}


def test_search_gives_segments_and_answers_nothing(home: Home, kiln: str) -> None:
    found = home.citewell("search", "kiln", "-w", "kiln", "--json").json
    assert list(found) == ["query", "degraded", "hits"]
    assert found["hits"][0]["document_id"] == kiln
    assert found["hits"][0]["text"].split() == POTTERY["handbook.md"].removeprefix("# ").split()
    assert "Handbook" in home.citewell("search", "kiln", "-w", "kiln").out


def test_documents_are_listed_shown_deleted_and_purged(home: Home, write: Writer) -> None:
    write("drafts/one.txt", "Drafts are read by Ann alone.")
    [made] = home.citewell("ingest", "drafts", "-w", "drafts", "--owner", "ann", "--json").json["documents"]
    document_id = made["document_id"]
    assert home.citewell("documents", "list", "-w", "drafts", "--user", "bob", "--json").json["documents"] == []
    mine = home.citewell("documents", "list", "-w", "drafts", "--user", "ann", "--json").json
    assert [document["document_id"] for document in mine["documents"]] == [document_id]
    assert home.citewell("documents", "show", document_id, "-w", "drafts", "--user", "bob").code == Exit.NOT_FOUND
    assert "owner        ann" in home.citewell("documents", "show", document_id, "-w", "drafts", "-u", "ann").out
    refused = home.citewell("documents", "delete", document_id, "-w", "drafts", "-u", "ann", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (Exit.USAGE, "invalid_request")
    assert home.citewell("documents", "delete", document_id, "-w", "drafts", "-u", "ann", "--yes").code == Exit.OK
    assert home.citewell("documents", "raw", document_id, "-w", "drafts", "-u", "ann").code == Exit.NOT_FOUND
    assert home.citewell("purge", "-w", "drafts", "--yes", "--json").json == {"workspace": "drafts", "purged": 1}


def test_workspaces_are_made_listed_and_deleted_with_all_they_hold(home: Home, write: Writer) -> None:
    assert home.citewell("workspaces", "create", "attic").code == Exit.OK
    assert home.citewell("workspaces", "create", "attic", "--json").json["error"]["code"] == "invalid_request"
    write("attic/trunk.txt", "The trunk holds three coats and a sextant.")
    home.citewell("ingest", "attic", "-w", "attic")
    home.citewell("ask", "What does the trunk hold?", "-w", "attic", "--json")
    held = {w["name"]: w for w in home.citewell("workspaces", "list", "--json").json["workspaces"]}["attic"]
    assert (held["documents"], held["sessions"]) == (1, 1)
    unsure = home.citewell("workspaces", "delete", "attic")
    assert unsure.code == Exit.USAGE
    assert "1 document and 1 session" in unsure.err
    assert home.citewell("workspaces", "delete", "attic", "--yes", "--json").json["deleted"] is True
    assert "attic" not in home.citewell("workspaces", "list").out
    assert home.citewell("workspaces", "delete", "attic", "--yes").code == Exit.NOT_FOUND


def test_a_mistyped_workspace_is_no_new_one(home: Home) -> None:
    done = home.citewell("ask", "Anything?", "-w", "defualt", "--json")
    assert (done.code, done.json["error"]["code"]) == (Exit.NOT_FOUND, "not_found")
    assert "defualt" not in home.citewell("workspaces", "list").out


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["ask"], Exit.USAGE, "usage"),
        (["ask", "hi", "--top-k", "0"], Exit.USAGE, "usage"),
        (["nothing"], Exit.USAGE, "usage"),
        (["ask", " "], Exit.USAGE, "invalid_request"),
        (["ask", "kiln " * 2_001], Exit.USAGE, "invalid_request"),
        (["ask", "hi", "--model", "gpt"], Exit.USAGE, "unknown_model"),
        (["ask", "hi", "--session", "1"], Exit.NOT_FOUND, "not_found"),
        (["ask", "hi", "--session", "00000000-0000-0000-0000-000000000000"], Exit.NOT_FOUND, "not_found"),
        (["documents", "show", "1"], Exit.NOT_FOUND, "not_found"),
        (["documents", "list", "--source", "1"], Exit.NOT_FOUND, "not_found"),
        (["search", " "], Exit.USAGE, "invalid_request"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_errors_are_json_where_json_was_asked_for(home: Home, arguments: list[str], code: Exit, name: str) -> None:
    done = home.citewell(*arguments, "--json")
    assert done.code == code
    assert done.json["error"]["code"] == name
    assert done.json["error"]["message"]


@pytest.mark.parametrize(("arguments", "code"), [(["ask"], Exit.USAGE), (["sessions", "show", "1"], Exit.NOT_FOUND)])
def test_errors_are_told_to_people_on_stderr(home: Home, arguments: list[str], code: Exit) -> None:
    done = home.citewell(*arguments)
    assert (done.code, done.out) == (code, "")
    assert "Error: " in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_text_in_several_words_is_told_to_need_quotes(home: Home, command: str) -> None:
    done = home.citewell(command, "How", "long", "must", "it", "cool?")
    assert done.code == Exit.USAGE
    assert "in quotes" in done.err


def test_a_question_that_is_refused_leaves_no_session(home: Home) -> None:
    home.citewell("workspaces", "create", "refusals")
    assert home.citewell("ask", "hi", "-w", "refusals", "--model", "gpt").code == Exit.USAGE
    assert home.citewell("sessions", "list", "-w", "refusals", "--json").json["sessions"] == []


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("CITEWELL_PORT", "many", "port"),
        ("CITEWELL_MODELS", "[{", "models"),
        ("CITEWELL_AUTH__MODE", "key", "auth.mode"),
        ("CITEWELL_HTTP__TRUSTED_PROXIES", '["nowhere"]', "http.trusted_proxies"),
    ],
)
def test_settings_that_cannot_work_are_named(home: Home, name: str, value: str, place: str) -> None:
    done = home.citewell("workspaces", "list", **{name: value})
    assert done.code == Exit.CONFIGURATION
    assert place in done.err
    assert f"Correct {name} in the environment" in " ".join(done.err.split())


def test_a_database_that_cannot_be_reached_is_told(home: Home) -> None:
    secret = "postgresql://ann:hush@127.0.0.1:1/citewell"
    done = home.citewell("sessions", "list", "--json", CITEWELL_DATABASE_URL=secret)
    assert (done.code, done.json["error"]["code"]) == (Exit.UNAVAILABLE, "database_unavailable")
    looked = home.citewell("doctor", "--json", CITEWELL_DATABASE_URL=secret)
    assert looked.code == Exit.UNAVAILABLE
    found = {check["name"]: check["ok"] for check in looked.json["checks"] if "parsers" not in check["name"]}
    assert found == {"database": False, "embedding": True, "programs": True, "terms": False}
    assert "hush" not in looked.out + done.out


def test_doctor_tells_no_credentials_of_an_address(home: Home) -> None:
    address = "http://ann:hush@127.0.0.1:1/v1?key=hush2&region=eu"
    models = [{"name": "gone", "base_url": address, "model": "any"}]
    named = {"CITEWELL_MODELS": json.dumps(models), "CITEWELL_EMBEDDING__BASE_URL": address}
    for arguments in (("doctor", "--json"), ("doctor",), ("ask", "Anything?", "-m", "gone")):
        done = home.citewell(*arguments, **named)
        assert "hush" not in done.out + done.err, arguments
    assert "127.0.0.1:1" in home.citewell("doctor", "--json", **named).out
    assert "region=eu" in home.citewell("doctor", "--json", **named).out


def test_doctor_reaches_everything_and_says_who_answers(home: Home, scripted_openai: ScriptedOpenAI) -> None:
    done = home.citewell("doctor", "--json")
    assert done.code == Exit.OK
    assert done.json["answers"] == {"family": "extractive", "model": "extractive"}
    models = [
        {"name": "there", "base_url": scripted_openai.base_url, "model": "any", "api_key": "hush"},
        {"name": "gone", "base_url": "http://127.0.0.1:1", "model": "any"},
    ]
    named = {"CITEWELL_MODELS": json.dumps(models), "CITEWELL_DEFAULT_MODEL": "there"}
    looked = home.citewell("doctor", "--json", **named)
    assert looked.code == Exit.UNAVAILABLE
    assert looked.json["answers"] == {"family": "llm", "model": "there"}
    found = {check["name"]: check["ok"] for check in looked.json["checks"] if "parsers" not in check["name"]}
    parsers = [check for check in looked.json["checks"] if "parsers" in check["name"]]
    assert parsers[-1]["facts"]["landlock"] == landlock_version()
    assert all(check["ok"] for check in parsers)
    reached = {"database": True, "embedding": True, "model there": True, "model gone": False, "judge any": True}
    assert found == reached | {"programs": True, "terms": True}
    assert "hush" not in looked.out
    people = home.citewell("doctor", **named).out
    how, without = lines("en").add_model, " ".join(home.citewell("doctor").out.split())
    assert "`citewell model add`" in how
    assert how in without
    assert how not in " ".join(people.split())
    assert "✓ database" in people
    assert "✗ model gone" in people
    assert "data_dir\t.citewell\tCITEWELL_DATA_DIR\tenvironment" in people
    (database,) = (check for check in done.json["checks"] if check["name"] == "database")
    assert database["facts"]["folder"] == str(home.folder / ".citewell" / "postgres")
    assert database["facts"]["folder"] in database["detail"]


def test_a_library_in_the_working_folder_is_used_and_said(home: Home) -> None:
    """Without a setting the data folder is the user's own, but a library that is already here is not left behind."""
    unset = {name: value for name, value in home.environment.items() if name != "CITEWELL_DATA_DIR"}
    found = replace(home, environment=unset).citewell("workspaces", "list", "--json")
    said = f"Using the library in {home.folder / '.citewell'}, since it exists; CITEWELL_DATA_DIR names another.\n"
    assert (found.code, found.err) == (Exit.OK, said)
    assert found.json == home.citewell("workspaces", "list", "--json").json
    assert home.citewell("workspaces", "list").err == ""


def test_an_empty_library_says_how_to_fill_it(home: Home) -> None:
    assert home.citewell("workspaces", "create", "empty shelf").code == Exit.OK
    hint = "The library is empty. Add documents with: citewell ingest FOLDER --workspace 'empty shelf'\n"
    for command in (["documents", "list"], ["search", "kiln"]):
        people = home.citewell(*command, "-w", "empty shelf")
        programs = home.citewell(*command, "-w", "empty shelf", "--json")
        assert (people.code, people.err, programs.err) == (Exit.OK, hint, hint)
    asked = home.citewell("ask", "How hot is the kiln?", "-w", "empty shelf", "--json")
    assert (asked.code, asked.json["stop_reason"]) == (Exit.ABSTAINED, "library_empty")
    assert "`citewell ingest FOLDER`" in asked.json["answer"]


def test_migrate_and_reindex_say_what_they_did(home: Home, kiln: str) -> None:
    assert home.citewell("migrate", "--json").json == {"applied": []}
    assert home.citewell("reindex", "--json").json["segments"] >= 1


def test_a_model_writes_and_its_failure_has_its_code(home: Home, kiln: str, scripted_openai: ScriptedOpenAI) -> None:
    models = json.dumps([{"name": "scripted", "base_url": scripted_openai.base_url, "model": "any"}])
    asked = ["ask", "How hot is the kiln fired?", "-w", "kiln", "--model", "scripted", "--json"]
    done = home.citewell(*asked, CITEWELL_MODELS=models)
    assert (done.code, done.json["family"], done.json["model"]) == (Exit.OK, "llm", "scripted")
    gone = json.dumps([{"name": "scripted", "base_url": "http://127.0.0.1:1", "model": "any"}])
    failed = home.citewell(*asked, CITEWELL_MODELS=gone)
    assert failed.code == Exit.UNAVAILABLE
    assert (failed.json["outcome"], failed.json["error"]["code"]) == ("failed", "model_unavailable")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, Exit.INTERRUPTED), (signal.SIGTERM, Exit.TERMINATED)])
def test_a_signal_cancels_the_run_and_records_that(
    home: Home, kiln: str, scripted_openai: ScriptedOpenAI, sent: signal.Signals, code: Exit
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say('{"sections": [{"text": "The kiln'), hold]), to="generate_answer")
    models = json.dumps([{"name": "scripted", "base_url": scripted_openai.base_url, "model": "any"}])
    asked = ["ask", "How hot is the kiln fired?", "-w", "kiln", "-u", f"by-{sent.name}", "--model", "scripted"]
    with subprocess.Popen(
        [sys.executable, "-c", HEARING_SIGINT, str(BIN / "citewell"), *asked],
        cwd=home.folder,
        env={**home.environment, "CITEWELL_MODELS": models},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        hold.wait_reached()
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert scripted_openai.asked("generate_answer")[-1].wait_disconnected()
    [session] = home.citewell("sessions", "list", "-w", "kiln", "-u", f"by-{sent.name}", "--json").json["sessions"]
    shown = home.citewell(
        "sessions", "show", session["session_id"], "-w", "kiln", "-u", f"by-{sent.name}", "--json"
    ).json
    assert shown["messages"][-1]["outcome"] == "cancelled"
    assert shown["messages"][-1]["stop_reason"] == "cancel_requested"


def test_serve_listens_answers_and_ends_in_order(home: Home) -> None:
    with subprocess.Popen(
        [str(BIN / "citewell"), "serve", "--port", "0", "--json"],
        cwd=home.folder,
        env=home.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        told: dict[str, Any] = json.loads("".join(process.stdout.readline() for _ in range(5)))
        assert list(told) == ["url", "host", "port"]
        assert httpx.get(f"{told['url']}/readyz").status_code == 200
        assert httpx.get(f"{told['url']}/api/sessions?cursor=secret").status_code == 422
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert process.returncode == Exit.OK
    assert out == "", "one JSON document, and the log of requests is none"
    assert "citewell.access: GET /api/sessions 422" in err
    assert "secret" not in err
    assert "Traceback" not in err


def test_serve_refuses_an_address_that_others_can_reach(home: Home) -> None:
    done = home.citewell("serve", "--host", "0.0.0.0", "--json")
    assert (done.code, done.json["error"]["code"]) == (Exit.CONFIGURATION, "configuration")


def test_a_reader_that_has_enough_is_no_failure(home: Home, kiln: str) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [str(BIN / "citewell"), "documents", "raw", kiln, "-w", "kiln"],
        cwd=home.folder,
        env=home.environment,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert done.stderr == ""


def test_the_version_is_told(home: Home) -> None:
    assert home.process("--version").out.startswith("citewell ")
