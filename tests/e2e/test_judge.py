"""The exam of a judge on the command line, with a scripted model as the judge."""

import json

import pytest

from cli.command import Exit
from evals.scripted_endpoint import ModelRequest, Reply, say, status
from evals.scripted_replies import claims_to_judge, judged
from tests.e2e.conftest import Home
from tests.scripted_openai import ScriptedOpenAI
from tools.judges.exam import BATCH, built_in_exam

LABELS = {claim.claim.claim: claim.supported for claim in built_in_exam().claims}
OTHERS = ["vi", "zh", "ja", "ko", "ar", "de", "fr", "es", "pt"]


def knowing(request: ModelRequest) -> Reply:
    """Reply with the label of every claim."""
    claims = claims_to_judge(request)
    verdicts = {
        str(number): judged("supported" if LABELS[claim] else "unsupported") for number, claim in claims.items()
    }
    return say(json.dumps(verdicts), tokens=1000)


def models(server: ScriptedOpenAI, name: str) -> dict[str, str]:
    """Return the settings of a deployment with one model, whose judge is new to the others' database."""
    return {"CITEWELL_MODELS": json.dumps([{"name": "scripted", "base_url": server.base_url, "model": name}])}


def test_an_exam_is_taken_stored_and_shown(home: Home, scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.respond = knowing
    environment = models(scripted_openai, "knowing")
    arguments = ["judge", "exam", "--model", "scripted"]
    done = home.citewell(*arguments, "--json", **environment)
    assert done.code == Exit.OK, done.err
    (english,) = done.json["languages"]  # of a library without documents
    assert (done.json["judge"], english["language"], english["passed"]) == ("knowing", "en", True)
    assert english["right"]["count"] == english["right"]["of"] == 2 * BATCH
    assert english["false_supported"]["count"] == 0
    assert english["false_supported"]["high"] == pytest.approx(0.1936, abs=1e-4)
    assert english["calls"] == len(scripted_openai.requests) == 2
    assert english["tokens"] == 1000 * english["calls"]
    again = home.citewell(*arguments, **environment)
    assert again.code == Exit.OK
    assert len(scripted_openai.requests) == english["calls"]  # the stored result holds
    assert "32 claims in about 2 calls" in again.err
    assert "passed" in again.out
    assert "en: passed." in again.err
    listed = home.citewell("judge", "list", "--json", **environment).json["judges"]
    assert [(each["judge"], each["models"], each["missing"]) for each in listed] == [("knowing", ["scripted"], OTHERS)]
    assert listed[0]["cost"]["claims"] == 2 * BATCH
    looked = home.citewell("doctor", **environment).out
    assert "✓ judge knowing  en passed; vi, zh, ja, ko, ar, de, fr, es, pt not taken: each" in looked
    assert "citewell judge exam --model scripted" in looked


def test_a_judge_that_says_yes_to_all_fails_and_the_command_does_not(
    home: Home, scripted_openai: ScriptedOpenAI
) -> None:
    environment = models(scripted_openai, "yes")
    done = home.citewell("judge", "exam", "--model", "scripted", "--language", "vi", **environment)
    assert done.code == Exit.OK
    assert "failed" in done.out
    assert "vi: it called" in done.err
    assert "false claims supported" in done.err


def test_an_exam_that_was_broken_off_goes_on(home: Home, scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.respond = lambda request: (
        knowing(request) if len(scripted_openai.requests) == 1 else status(401, "no such key")
    )
    environment = models(scripted_openai, "hurried")
    arguments = ["judge", "exam", "--model", "scripted", "--language", "de", "--json"]
    assert home.citewell(*arguments, **environment).code == Exit.UNAVAILABLE
    before = len(scripted_openai.requests)
    scripted_openai.respond = knowing
    done = home.citewell(*arguments, **environment)
    assert done.code == Exit.OK, done.err
    assert done.json["languages"][0]["passed"]
    assert len(scripted_openai.requests) == before + 1


def test_a_judge_that_can_not_be_asked_has_no_result_and_says_so(home: Home, scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.respond = lambda request: status(401, "no such key")
    environment = models(scripted_openai, "locked")
    done = home.citewell("judge", "exam", "--model", "scripted", "--json", **environment)
    assert (done.code, done.json["error"]["code"]) == (Exit.UNAVAILABLE, "model_refused")
    (state,) = home.citewell("judge", "list", "--json", **environment).json["judges"]
    assert state["languages"] == []
    assert "refused the API key" in state["trouble"]
    assert "ended early" in home.citewell("judge", "list", **environment).err


def test_what_can_not_be_examined_is_named(home: Home, scripted_openai: ScriptedOpenAI) -> None:
    environment = models(scripted_openai, "any")
    latin = home.citewell("judge", "exam", "--model", "scripted", "--language", "la", "--json", **environment)
    assert (latin.code, latin.json["error"]["code"]) == (Exit.USAGE, "invalid_request")
    assert "en, vi, zh" in latin.json["error"]["message"]
    without = home.citewell("judge", "exam", "--json")
    assert (without.code, without.json["error"]["code"]) == (Exit.USAGE, "unknown_model")
    off = home.citewell("judge", "exam", "--json", **environment, CITEWELL_JUDGE__KIND="off")
    assert (off.code, off.json["error"]["code"]) == (Exit.CONFIGURATION, "configuration")
    assert home.citewell("judge", "list").out.startswith("No judge is configured")
    assert scripted_openai.requests == []
