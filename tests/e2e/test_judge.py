"""The exam of a judge on the command line, with a scripted model as the judge."""

import json

import pytest

from cli.command import Exit
from evals.scripted_endpoint import ModelRequest, Reply, say, status
from evals.scripted_replies import claims_to_judge, judged
from tests.e2e.conftest import Home
from tests.scripted_openai import ScriptedOpenAI
from tools.judges.exam import batches, built_in_exam

ENGLISH = built_in_exam().of("en")
LABELS = {claim.claim.claim: claim.supported for claim in built_in_exam().claims}


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
    arguments = ["judge", "exam", "--model", "scripted", "--language", "en"]
    done = home.citewell(*arguments, "--json", **environment)
    assert done.code == Exit.OK, done.err
    (english,) = done.json["languages"]
    assert (done.json["judge"], done.json["stored"], english["passed"]) == ("knowing", True, True)
    assert english["right"]["count"] == english["right"]["of"] == len(ENGLISH) // 2
    assert english["false_supported"]["count"] == 0
    assert english["false_supported"]["high"] == pytest.approx(0.1135, abs=1e-4)
    assert english["calls"] == len(scripted_openai.requests) == len(batches(ENGLISH))
    assert english["tokens"] == 1000 * english["calls"]
    again = home.citewell(*arguments, **environment)
    assert again.code == Exit.OK
    assert len(scripted_openai.requests) == english["calls"]  # the stored result holds
    assert "120 claims in about 24 calls" in again.err
    assert "passed" in again.out
    assert "en: passed." in again.err
    listed = home.citewell("judge", "list", "--json", **environment).json["judges"]
    assert [(each["judge"], each["models"], each["missing"]) for each in listed] == [
        ("knowing", ["scripted"], ["vi", "zh"])
    ]
    assert listed[0]["cost"]["claims"] == len(built_in_exam().claims) - len(ENGLISH)
    looked = home.citewell("doctor", **environment).out
    assert "✓ judge knowing  en passed; vi, zh not taken: 198 claims" in looked
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


def test_a_part_of_the_exam_is_not_stored(home: Home, scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.respond = knowing
    environment = models(scripted_openai, "hurried")
    done = home.citewell("judge", "exam", "--model", "scripted", "--most", "8", "--json", **environment)
    assert done.code == Exit.OK, done.err
    assert [each["right"]["of"] for each in done.json["languages"]] == [4, 4, 4]
    assert done.json["stored"] is False
    (state,) = home.citewell("judge", "list", "--json", **environment).json["judges"]
    assert (state["languages"], state["missing"]) == ([], ["en", "vi", "zh"])


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
    french = home.citewell("judge", "exam", "--model", "scripted", "--language", "fr", "--json", **environment)
    assert (french.code, french.json["error"]["code"]) == (Exit.USAGE, "invalid_request")
    assert "en, vi, zh" in french.json["error"]["message"]
    without = home.citewell("judge", "exam", "--json")
    assert (without.code, without.json["error"]["code"]) == (Exit.USAGE, "unknown_model")
    off = home.citewell("judge", "exam", "--json", **environment, CITEWELL_JUDGE__KIND="off")
    assert (off.code, off.json["error"]["code"]) == (Exit.CONFIGURATION, "configuration")
    assert home.citewell("judge", "list").out.startswith("No judge is configured")
    assert scripted_openai.requests == []
