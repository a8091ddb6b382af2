"""From a model server to a judged answer in one command, and what stands in ``.env`` behind it."""

import json
import stat
from pathlib import Path
from unittest.mock import patch

import pytest

from cli.command import Exit
from evals.scripted_endpoint import ModelRequest, Reply, say, status
from evals.scripted_replies import claims_to_judge, judged, sensible
from tests.e2e.conftest import Done, Home
from tests.scripted_openai import ScriptedOpenAI
from tools.judges.exam import built_in_exam

LABELS = {claim.claim.claim: claim.supported for claim in built_in_exam().claims}
KEY = "sk-hush-hush"


def knowing(request: ModelRequest) -> Reply:
    """Reply with the label of every claim of the exam, and sensibly to anything else."""
    claims = claims_to_judge(request)
    if not claims or not claims.keys() or not set(claims.values()) <= LABELS.keys():
        return say(sensible(request))
    verdicts = {str(number): judged("supported" if LABELS[each] else "unsupported") for number, each in claims.items()}
    return say(json.dumps(verdicts), tokens=1000)


@pytest.fixture
def at_home(home: Home, tmp_path: Path) -> Home:
    """A folder of its own, over the database of the others."""
    environment = {**home.environment, "CITEWELL_DATA_DIR": str(home.folder / ".citewell")}
    (tmp_path / "rates.md").write_text("# Rates\n\nA member pays 30 euros a month.\n", encoding="utf-8")
    return Home(tmp_path, environment)


def add(home: Home, *arguments: str, **environment: str) -> Done:
    return home.citewell("model", "add", *arguments, **environment)


def test_one_command_adds_a_model_takes_its_exam_and_asks(at_home: Home, scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.respond = knowing
    assert at_home.citewell("ingest", "rates.md", "-w", "added").code == Exit.OK
    port = int(scripted_openai.base_url.rpartition(":")[2].partition("/")[0])
    with patch.dict("cli.model_servers.USUAL_PORTS", {"vLLM": port}, clear=True):
        done = add(at_home, "--yes", "--ask", "How much does a member pay a month?", "-w", "added", "--json")
    assert done.code == Exit.OK, done.err
    told = done.json
    assert (told["model"]["base_url"], told["file"]) == (f"http://127.0.0.1:{port}/v1", ".env")
    assert told["tried"]["reply"]
    assert told["exam"]["languages"][0]["passed"]
    assert (told["answer"]["family"], told["answer"]["outcome"]) == ("llm", "answered")
    assert {claim["verdict"] for claim in told["answer"]["claims"]} == {"supported"}
    looked = at_home.citewell("doctor", "--json").json
    assert looked["answers"] == {"family": "llm", "model": told["model"]["name"]}


def test_what_stands_in_the_file_is_kept_and_the_key_is_nowhere_else(
    at_home: Home, scripted_openai: ScriptedOpenAI
) -> None:
    other = {"name": "other", "base_url": "http://127.0.0.1:1/v1", "api_key": "sk-other", "model": "x"}
    file = at_home.folder / ".env"
    file.write_text(f"# ours\nCITEWELL_MODELS='{json.dumps([other])}'\nPORT=1\nCITEWELL_TOP='a b'\n", encoding="utf-8")
    arguments = ("--endpoint", scripted_openai.base_url, "--model", "mine")
    done = add(at_home, *arguments, "--key-env", "MY_KEY", MY_KEY=KEY)
    assert done.code == Exit.OK, done.err
    assert KEY not in done.out + done.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [lines[0], *lines[2:]] == ["# ours", "PORT=1", "CITEWELL_TOP='a b'", "CITEWELL_DEFAULT_MODEL='mine'"]
    first, added = json.loads(lines[1].partition("=")[2].strip("'"))
    assert first == other
    assert (added["name"], added["api_key"]) == ("mine", KEY)
    assert [path.name for path in at_home.folder.iterdir() if path.name.startswith(".env")] == [".env"]
    assert scripted_openai.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    again = add(at_home, *arguments, "--json")
    assert again.json["exam"]["languages"] == []
    names = [each["name"] for each in json.loads(file.read_text("utf-8").splitlines()[1].partition("=")[2].strip("'"))]
    assert names == ["other", "mine"]


def test_an_exam_that_breaks_off_keeps_no_question_from_being_asked(
    at_home: Home, scripted_openai: ScriptedOpenAI
) -> None:
    def busy(request: ModelRequest) -> Reply:
        return status(401, "not today") if claims_to_judge(request) else say(sensible(request))

    scripted_openai.respond = busy
    assert at_home.citewell("ingest", "rates.md", "-w", "broken-off").code == Exit.OK
    asked = ("--ask", "How much does a member pay a month?", "-w", "broken-off")
    done = add(at_home, "--endpoint", scripted_openai.base_url, "--model", "busy", "--yes", *asked, "--json")
    assert (done.code, done.json["exam"], done.json["answer"]["outcome"]) == (Exit.OK, None, "answered")
    assert "judge exam --model busy" in done.err


def test_a_model_that_the_names_of_another_stack_make_stays(at_home: Home, scripted_openai: ScriptedOpenAI) -> None:
    other = ("OPENAI_COMPATIBLE_BASE_URL", "http://127.0.0.1:1"), ("OPENAI_COMPATIBLE_COMPLETION_MODEL", "theirs")
    (at_home.folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in other), encoding="utf-8")
    assert add(at_home, "--endpoint", scripted_openai.base_url, "--model", "mine").code == Exit.OK
    looked = at_home.citewell("doctor", "--json").json
    assert looked["answers"]["model"] == "mine"
    assert {"model mine", "model theirs"} <= {check["name"] for check in looked["checks"]}


def test_a_model_that_does_not_answer_is_not_written(at_home: Home, scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.respond = lambda request: status(404, "no such model")
    done = add(at_home, "--endpoint", scripted_openai.base_url, "--model", "any", "--yes", "--json")
    assert (done.code, done.json["error"]["code"]) == (Exit.UNAVAILABLE, "model_refused")
    gone = add(at_home, "--endpoint", "http://127.0.0.1:1", "--model", "any", "--yes", "--json")
    assert (gone.code, gone.json["error"]["code"]) == (Exit.UNAVAILABLE, "model_unavailable")
    assert not (at_home.folder / ".env").exists()


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "named"),
    [
        (["--endpoint", "localhost"], {}, Exit.USAGE, "--endpoint"),
        (["--endpoint", "HERE", "--key-env", "NO_KEY"], {}, Exit.USAGE, "NO_KEY"),
        (
            ["--endpoint", "HERE"],
            {"CITEWELL_DEFAULT_MODEL": "extractive"},
            Exit.CONFIGURATION,
            "CITEWELL_DEFAULT_MODEL",
        ),
        ([], {}, Exit.USAGE, "--endpoint"),
    ],
)
def test_what_can_not_be_added_is_named(
    at_home: Home,
    scripted_openai: ScriptedOpenAI,
    arguments: list[str],
    environment: dict[str, str],
    code: Exit,
    named: str,
) -> None:
    given = [scripted_openai.base_url if each == "HERE" else each for each in arguments]
    with patch.dict("cli.model_servers.USUAL_PORTS", clear=True):
        done = add(at_home, *given, "--json", **environment)
    assert (done.code, named in done.json["error"]["message"]) == (code, True), done.out
    assert not (at_home.folder / ".env").exists()
