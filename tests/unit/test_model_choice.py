"""Which model answers a request, and what is said of a request that it does not fulfil."""

import pytest

from graph.errors import UnknownModel
from graph.reasons import Reason, why
from tools.backends.backend_registry import configured_families, only_endpoint
from tools.settings import ModelSettings, Settings

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
