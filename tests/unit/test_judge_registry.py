"""Which judge a deployment has, by its settings alone: nothing is opened or asked before its first claim."""

from pathlib import Path
from typing import Any

import pytest

from graph.errors import ConfigurationError
from graph.ports import CitedEntry, Judge, OpenClaim
from graph.usage import Meter
from tests.distributions import install_documented, site
from tools.backends.backend_registry import configured_families
from tools.judges.chat_judge import ChatJudge
from tools.judges.entailment import EntailmentJudge
from tools.judges.judge_registry import configured_judge, judging_model
from tools.judges.minicheck import MiniCheckJudge
from tools.settings import JudgeSettings, ModelSettings, Settings, load_settings

__all__ = ["site"]

WRITER = ModelSettings(name="writer", base_url="http://localhost:1", model="lab/writer", thinking_model="lab/thinker")


def judge_for(writer: ModelSettings | None, **judge: Any) -> Judge | None:
    return configured_judge(Settings(_env_file=None, judge=judge), writer)


def test_the_model_that_writes_judges() -> None:
    judge = judge_for(WRITER)
    assert isinstance(judge, ChatJudge)
    assert judge.name == "lab/writer"


def test_another_model_of_the_same_endpoint_judges() -> None:
    judge = judge_for(WRITER, model="lab/judge")
    assert isinstance(judge, ChatJudge)
    assert judge.name == "lab/judge"


def test_quotes_of_the_extractive_family_have_no_judge_without_an_endpoint() -> None:
    assert judge_for(None) is None


@pytest.mark.parametrize(
    ("kind", "expected"), [("chat", ChatJudge), ("minicheck", MiniCheckJudge), ("entailment", EntailmentJudge)]
)
@pytest.mark.parametrize("model", [WRITER, None])
def test_an_endpoint_of_its_own_judges_whoever_writes(
    kind: str, expected: type[Judge], model: ModelSettings | None
) -> None:
    settings = {"kind": kind, "base_url": "http://localhost:2/", "model": "lab/judge-7b"}
    judge = configured_judge(Settings(_env_file=None, judge=settings), model)
    assert isinstance(judge, expected)
    assert judge.name == "lab/judge-7b"


@pytest.mark.parametrize("judge", [{"kind": "off"}, {"kind": "off", "base_url": "http://localhost:2"}])
def test_off_is_off(judge: dict[str, str]) -> None:
    settings = Settings(_env_file=None, judge=judge, models=[WRITER])
    assert configured_judge(settings, WRITER) is None
    assert configured_families(settings)("writer").judge is None


def test_every_family_has_its_judge() -> None:
    families = configured_families(Settings(_env_file=None, models=[WRITER]))
    assert families("extractive").judge is None
    assert isinstance(families("writer").judge, ChatJudge)
    assert isinstance(families("writer", thinking=True).judge, ChatJudge)
    assert families("writer").judge is families("writer").judge
    judge = {"kind": "entailment", "base_url": "http://localhost:2", "model": "lab/nli"}
    families = configured_families(Settings(_env_file=None, models=[WRITER], judge=judge))
    assert isinstance(families("extractive").judge, EntailmentJudge)
    assert families("extractive").judge is families("extractive").judge


def test_a_kind_that_is_not_there_stops_the_start() -> None:
    settings = Settings(_env_file=None, judge={"kind": "oracle"})
    with pytest.raises(ConfigurationError, match=r"judge\.kind: .*'oracle'.*chat, minicheck, entailment, off\.") as no:
        configured_families(settings)
    assert "CITEWELL_JUDGE__KIND" in no.value.advice


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        ({"kind": "minicheck"}, "judge.base_url is required"),
        ({"kind": "entailment", "model": "m"}, "judge.base_url is required"),
        ({"base_url": "http://localhost:2"}, "judge.model is required"),
        ({"base_url": "localhost:2", "model": "m"}, "judge.base_url: "),
        ({"kind": "two words"}, "judge.kind: "),
        ({"api_key": "ключ"}, "printable ASCII"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(judge: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_settings(_env_file=None, judge=judge)
    assert problem in refused.value.message


async def test_the_judge_of_the_manual_is_asked_by_its_kind(site: Path) -> None:
    install_documented(site, "models.md", "judge")
    settings = Settings(_env_file=None, judge={"kind": "verbatim"})
    judge = configured_families(settings)("extractive").judge
    assert judge is not None
    entries = (CitedEntry("Staff get 25 days of leave. It is paid."),)
    claims = [OpenClaim("Staff get 25 days of leave.", entries), OpenClaim("Staff get leave.", entries)]
    judgements = await judge.judge(claims, meter=Meter())
    assert [judgement.verdict for judgement in judgements] == ["supported", None]


def test_a_judge_at_an_endpoint_of_its_own_has_the_room_that_the_models_say_of_it() -> None:
    own = {"base_url": "http://localhost:2", "model": "large"}
    known = ModelSettings(name="other", base_url="http://localhost:2/v1", model="large", context_tokens=32_000)
    judge = JudgeSettings(**own)
    said = [judging_model(judge, WRITER, models) for models in ([WRITER], [WRITER, known])]
    assert [each.context_tokens for each in said if each is not None] == [8192, 32_000]
