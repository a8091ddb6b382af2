"""Which model answers a request, and what is said of a request that it does not fulfil."""

from collections import OrderedDict

import pytest

from graph.errors import UnknownModel
from graph.reasons import Reason, why
from tests.scripted_openai import ScriptedOpenAI, say, scripted_openai, status
from tools.backends import backend_registry
from tools.backends.backend_registry import ask_for_model, configured_families, only_endpoint
from tools.settings import ModelSettings, Settings
from tools.settings.models import usual_context

__all__ = ["scripted_openai"]

GLM = ModelSettings(name="glm-4-flash", base_url="http://glm.test", model="glm-4-flash")
THINKS = ModelSettings(name="glm-4.5", base_url="http://glm.test", model="glm-4.5", thinking_model="glm-4.5-thinking")
OTHER = ModelSettings(name="gpt", base_url="http://gpt.test", model="gpt")


def deployment(*models: ModelSettings, default: str = "") -> Settings:
    return Settings(_env_file=None).model_copy(
        update={"models": list(models), "default_model": default or models[0].name}
    )


def test_the_one_endpoint_answers_for_a_name_that_nobody_knows() -> None:
    family = configured_families(deployment(GLM))("glm-4.7-flash")
    assert family.model == "glm-4-flash"
    reason = Reason("other_model", "glm-4.7-flash", "glm-4-flash")
    assert family.fallback == {"code": "unknown_model", "message": reason, "why": why(reason)}


def test_of_several_models_of_one_endpoint_the_default_answers() -> None:
    assert configured_families(deployment(GLM, THINKS, default="glm-4.5"))("x").model == "glm-4.5"
    assert configured_families(deployment(GLM, THINKS, default="extractive"))("x").model == "glm-4-flash"


@pytest.mark.parametrize("models", [(), (GLM, OTHER)])
def test_with_several_endpoints_or_none_a_name_that_nobody_knows_is_refused(models: tuple[ModelSettings, ...]) -> None:
    settings = deployment(*models, default="extractive")
    assert only_endpoint(settings) is None
    with pytest.raises(UnknownModel, match="is named 'x'"):
        configured_families(settings)("x", thinking=True)


def test_a_known_name_is_taken_as_it_is() -> None:
    families = configured_families(deployment(GLM, THINKS))
    assert (families("").fallback, families("extractive").fallback, families("glm-4.5").model) == (
        None,
        None,
        "glm-4.5",
    )
    assert families("glm-4.5", thinking=True).fallback is None


@pytest.mark.parametrize("name", ["glm-4-flash", "extractive"])
def test_thinking_is_left_out_where_a_model_can_not(name: str) -> None:
    family = configured_families(deployment(GLM))(name, thinking=True)
    told = f"{name!r} has no thinking model; it only writes."
    why = [{"code": "no_thinking", "parts": [name], "text": told}]
    assert (family.model, family.fallback) == (name, {"code": "no_thinking_model", "message": told, "why": why})


def test_both_are_said_at_once() -> None:
    family = configured_families(deployment(GLM))("glm-4.5", thinking=True)
    assert family.fallback is not None
    assert family.fallback["code"] == "unknown_model"
    assert family.fallback["message"].count(".") >= 2


def of_another_stack(endpoint: ScriptedOpenAI) -> Settings:
    """Settings as the names of another stack make them: one endpoint, and one model of it."""
    model = ModelSettings(name="glm-4-flash", base_url=endpoint.base_url, model="glm-4-flash")
    settings = deployment(model)
    settings._aliases["models"] = "OPENAI_COMPATIBLE_COMPLETION_MODEL"
    return settings


@pytest.fixture(autouse=True)
def unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_registry, "_ANSWERED", OrderedDict())


async def test_a_model_that_the_endpoint_has_answers_though_none_of_that_name_is_configured(
    scripted_openai: ScriptedOpenAI,
) -> None:
    settings = of_another_stack(scripted_openai)
    scripted_openai.script(say("Hello"))
    await ask_for_model(settings, "glm-4.5")
    await ask_for_model(settings, "glm-4.5")
    assert [request.body["model"] for request in scripted_openai.requests] == ["glm-4.5"]
    family = configured_families(settings)("glm-4.5")
    assert (family.model, family.fallback) == ("glm-4.5", None)


@pytest.mark.parametrize("name", ["", "glm-4-flash", "glm-4.5"])
async def test_the_one_that_thinks_for_it_is_found_by_its_name(scripted_openai: ScriptedOpenAI, name: str) -> None:
    settings = of_another_stack(scripted_openai)
    families = configured_families(settings)
    scripted_openai.script(say("Hello"), say("Hello"))
    await ask_for_model(settings, name, thinking=True)
    thinker, *_ = (request.body["model"] for request in scripted_openai.requests)
    assert thinker == f"{name or 'glm-4-flash'}-thinking"
    assert families(name, thinking=True).fallback is None


async def test_for_one_that_it_has_not_the_configured_one_answers(scripted_openai: ScriptedOpenAI) -> None:
    settings = of_another_stack(scripted_openai)
    scripted_openai.script(status(404, "no such model"))
    await ask_for_model(settings, "glm-9")
    family = configured_families(settings)("glm-9")
    assert (family.model, (family.fallback or {}).get("code")) == ("glm-4-flash", "unknown_model")
    assert len(scripted_openai.requests) == 1


async def test_models_that_are_listed_are_all_there_are(scripted_openai: ScriptedOpenAI) -> None:
    await ask_for_model(deployment(ModelSettings(name="a", base_url=scripted_openai.base_url, model="a")), "glm-4.5")
    assert scripted_openai.requests == []


@pytest.mark.parametrize(
    ("model", "base_url", "tokens"),
    [
        ("glm-4-flash", "https://open.bigmodel.cn/api/paas/v4", 128_000),
        ("openai/gpt-4o-mini", "https://router.test/v1", 128_000),
        ("gpt-4", "https://api.openai.com/v1", 8_192),
        ("moonshot-v1-32k", "https://api.moonshot.test/v1", 32_000),
        ("whatever-1", "https://hosted.test/v1", 32_768),
        ("qwen2.5:7b", "http://localhost:11434/v1", 8_192),
        ("phi-3-mini-128k", "http://localhost:11434/v1", 8_192),
        ("command-r:35b", "http://localhost:11434/v1", 8_192),
        ("glm-4-9b-chat", "http://localhost:8000/v1", 8_192),
    ],
)
def test_a_model_has_the_context_that_its_name_says(model: str, base_url: str, tokens: int) -> None:
    assert usual_context(model, base_url) == tokens
    assert ModelSettings(name="m", base_url=base_url, model=model).context_tokens == tokens
    assert ModelSettings(name="m", base_url=base_url, model=model, context_tokens=4096).context_tokens == 4096
