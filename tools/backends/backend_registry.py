"""Choose the backend that answers for a model name: the built-in extractive one, or a model of the settings."""

from functools import lru_cache

from graph.errors import InvalidRequest, UnknownModel
from graph.ports import Families, Family
from tools.claims.code_checker import CodeChecker
from tools.settings import EXTRACTIVE, ModelSettings, Settings


def configured_families(settings: Settings) -> Families:
    """Give the families of a deployment; each is made at its first use and kept."""
    models = {model.name: model for model in settings.models}

    @lru_cache
    def extractive() -> Family:
        from tools.extractive.extractive_family import extractive_family

        return extractive_family(checker=CodeChecker(), refuse_below=settings.refuse_below)

    @lru_cache
    def llm(name: str, thinking: bool) -> Family:
        from tools.extractive.extractive_family import ExtractiveWriter
        from tools.llm.llm_family import llm_family

        return llm_family(models[name], thinking=thinking, checker=CodeChecker(), fallback=ExtractiveWriter())

    def families(model: str, *, thinking: bool = False) -> Family:
        name = model or settings.default_model
        if name == EXTRACTIVE:
            return extractive()
        if name not in models:
            known = ", ".join([EXTRACTIVE, *models])
            raise UnknownModel(f"model: no model is named {name!r}; there are: {known}.")
        if thinking and not _thinks(models[name]):
            raise InvalidRequest(f"thinking: the model {name!r} has no thinking model configured.")
        return llm(name, thinking)

    return families


def _thinks(model: ModelSettings) -> bool:
    return model.thinking_model is not None
