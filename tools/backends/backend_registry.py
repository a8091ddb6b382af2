"""Resolve a model name to its backend: the extractive family, a model of the settings, or an installed backend.

Other distributions add backends under the entry point ``citewell.backends``.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

from graph.errors import (
    BudgetExhausted,
    ConfigurationError,
    DependencyFailed,
    InvalidRequest,
    ModelRefused,
    UnknownModel,
)
from graph.evidence import Failure
from graph.ports import Families, Family, Judge, RelevanceGrader
from graph.reasons import Reason, Reasons, why
from graph.usage import Meter
from tools.claims.code_checker import CodeChecker
from tools.judges.judge_registry import check_judge, configured_judge
from tools.plugins.entry_points import BACKENDS, Names, Plugin, load_plugins
from tools.settings import EXTRACTIVE, ModelSettings, RerankerSettings, Settings
from tools.settings.models import usual_context

if TYPE_CHECKING:
    from tools.rerankers.onnx_reranker import OnnxReranker
    from tools.rerankers.reranker_endpoint import Scorer

log = logging.getLogger(__name__)

ANY = "/"  # at the end of a backend's name: it serves every model name with that prefix


@dataclass(frozen=True, slots=True)
class Backend:
    """A backend for one model name, or, if ``model`` ends in a slash, for every name with that prefix.

    ``family`` is called with the request's model name and with ``thinking``; it raises InvalidRequest if it can't
    think, and UnknownModel for a name that it does not know.
    """

    model: str
    family: Families

    def __post_init__(self) -> None:
        if not self.model.strip(ANY) or not callable(self.family):
            raise TypeError("a Backend needs the name of a model and a callable that makes its Family")


@cache
def installed_backends() -> Mapping[str, Plugin[Backend]]:
    """Return the backends of other distributions by name, loaded at the first call.

    Raises ConfigurationError if one is broken or its name is taken.
    """
    names = Names("model", [EXTRACTIVE])
    plugins = load_plugins(BACKENDS, Backend)
    for plugin in plugins:
        names.take(plugin.value.model, plugin)
    return {plugin.value.model: plugin for plugin in plugins}


def find_backend(model: str) -> Backend | None:
    """Return the installed backend for a model name: an exact match, or the longest matching prefix."""
    installed = installed_backends()
    matching = [name for name in installed if name == model or (name.endswith(ANY) and model.startswith(name))]
    return installed[max(matching, key=len)].value if matching else None


Examined = Callable[[Judge, str], Judge]  # a judge, and the name of the model whose answers it judges


def configured_families(
    settings: Settings, examined: Examined | None = None, reranker: "Scorer | None" = None
) -> Families:
    """Return the families of a deployment; a model's is cached, the extractive one is created for each run.

    ``examined`` holds every judge to its exam; without it judges are raw, and their verdicts count for nothing.
    ``reranker`` is the configured one where it has to be closed, which is not done here.
    Raises ConfigurationError if an installed backend or judge is broken, its name is taken, or the default model or the
    kind of judge does not exist.
    """
    checker = CodeChecker()
    reranked = _reranking(settings.reranker, reranker)
    models = {model.name: model for model in settings.models}
    _check_names(settings, models)
    check_judge(settings)

    judge_of_quotes = cache(partial(configured_judge, settings, None))

    def found(name: str) -> ModelSettings | None:
        model = models.get(name) or _answering(settings, name)
        if model is None or model.thinking_model is not None:
            return model
        thinks = _answering(settings, _thinking(name))
        return model.model_copy(update={"thinking_model": thinks.model}) if thinks else model

    def extractive() -> Family:
        from tools.extractive.extractive_family import extractive_family

        family = extractive_family(checker=checker, refuse_below=settings.refuse_below)
        # Its reader was fitted on the scores of the search.
        grader = reranked(family.grader, rescored=False) if reranked else family.grader
        return _held_to_exam(replace(family, grader=grader, judge=judge_of_quotes()), EXTRACTIVE, examined)

    @lru_cache
    def llm(name: str, thinking: bool) -> Family:
        from tools.extractive.extractive_family import ExtractiveWriter
        from tools.llm.llm_family import llm_family

        model = found(name)
        assert model is not None
        family = llm_family(
            model,
            thinking=thinking,
            checker=checker,
            fallback=ExtractiveWriter(),
            # An exam is of a judge that is configured, not of each model that somebody picks.
            judge=configured_judge(settings, models.get(name) or models[only_endpoint(settings) or name]),
            reranked=reranked,
        )
        return _held_to_exam(family, name, examined)

    @lru_cache
    def installed(name: str, thinking: bool) -> Family:
        backend = find_backend(name)
        if backend is None:
            known = ", ".join([EXTRACTIVE, *models, *(f"{n}…" if n.endswith(ANY) else n for n in installed_backends())])
            raise UnknownModel(f"model: no model is named {name!r}; there are: {known}.")
        return _held_to_exam(backend.family(name, thinking=thinking), name, examined)

    def families(model: str, *, thinking: bool = False) -> Family:
        if model == EXTRACTIVE:
            return extractive()
        if (known := found(model)) is None:
            return installed(model, thinking)
        _check_thinking(known, thinking)
        return llm(model, thinking)

    return _lenient(families, settings)


def _lenient(families: Families, settings: Settings) -> Families:
    """Return families that do what they can of a request, and say in ``fallback`` what they do not."""

    def lenient(model: str, *, thinking: bool = False) -> Family:
        name = model or settings.default_model
        notes: list[tuple[str, Reason]] = []
        known = _is_known(settings, name) or _answering(settings, name)
        if not known and (stand_in := only_endpoint(settings)) is not None:
            notes.append(("unknown_model", Reason("other_model", name, stand_in)))
            name = stand_in
        try:
            family = families(name, thinking=thinking and name != EXTRACTIVE)
            thinks = name != EXTRACTIVE
        except InvalidRequest:
            if not thinking:
                raise
            family, thinks = families(name), False
        if thinking and not thinks:
            notes.append(("no_thinking_model", Reason("no_thinking", name)))
        return _with_notes(family, notes)

    return lenient


# Whether an endpoint answered as a model that is not configured, by its address and the name, and when it was asked.
_ANSWERED: OrderedDict[tuple[str, str], tuple[bool, float]] = OrderedDict()
MOST_ASKED = 50  # names of such models that are remembered
ASKED_AGAIN = 300.0  # seconds after a refusal


def _thinking(name: str) -> str:
    """Return the name that pickers of other stacks have for the model that thinks before it answers as another one."""
    return f"{name}-thinking"


async def ask_for_model(settings: Settings, name: str, *, thinking: bool = False) -> None:
    """Ask the endpoint whether it has a model that is not configured, or one that thinks for it: then that one answers.

    One that refused is asked again after a while, and one that did not reply with the next question.
    """
    if thinking:
        await ask_for_model(settings, _thinking(name or settings.default_model))
    model = _unlisted(settings, name)
    if model is None:
        return
    has, asked_at = _ANSWERED.get(key := (model.base_url, name), (False, -ASKED_AGAIN))
    if has or time.monotonic() - asked_at < ASKED_AGAIN:
        return
    from tools.llm.model_endpoint import Endpoint

    endpoint = Endpoint(model, name, temperature=None, attempts=1)
    try:
        async with aclosing(endpoint.reply([("user", "Hi")], schema=None, max_characters=1, meter=Meter())) as parts:
            await anext(parts)
    except ModelRefused as error:
        log.warning("Another model answers for %s: %s", name, error.message)
        _remember(key, has=False)
    except (DependencyFailed, BudgetExhausted):
        return
    else:
        _remember(key, has=True)


def _remember(key: tuple[str, str], *, has: bool) -> None:
    _ANSWERED[key] = (has, time.monotonic())
    if len(_ANSWERED) > MOST_ASKED:
        _ANSWERED.popitem(last=False)


def _answering(settings: Settings, name: str) -> ModelSettings | None:
    """Return a model that is not configured, but that its endpoint was found to have."""
    model = _unlisted(settings, name)
    return model if model is not None and _ANSWERED.get((model.base_url, name), (False, 0.0))[0] else None


def _unlisted(settings: Settings, name: str) -> ModelSettings | None:
    """Return a model that is not configured as another one of the endpoint; None where there can be none.

    That is where names of other stacks configure the endpoint, which tell one model alone: who lists models in
    ``CITEWELL_MODELS`` lists all.
    """
    if not name or "models" not in settings.aliases or len(settings.models) != 1 or _is_known(settings, name):
        return None
    model = settings.models[0]
    context = usual_context(name, model.base_url)
    own = {"name": name, "model": name, "label": "", "thinking_model": None, "context_tokens": context}
    return model.model_copy(update=own)


def _is_known(settings: Settings, name: str) -> bool:
    return name == EXTRACTIVE or any(model.name == name for model in settings.models) or bool(find_backend(name))


def only_endpoint(settings: Settings) -> str | None:
    """Return the model that answers for unknown names: that of the one configured endpoint, None where there are more.

    Of several models of one endpoint it is the default, or else the first.
    """
    names = [model.name for model in settings.models]
    if len({model.base_url for model in settings.models}) != 1:
        return None
    return settings.default_model if settings.default_model in names else names[0]


def _with_notes(family: Family, notes: Sequence[tuple[str, Reason]]) -> Family:
    if not notes:
        return family
    said = Reasons(note for _, note in notes)
    return replace(family, fallback=Failure(code=notes[0][0], message=str(said), why=why(said)))


def _held_to_exam(family: Family, model: str, examined: Examined | None) -> Family:
    if examined is None or family.judge is None:
        return family
    return replace(family, judge=examined(family.judge, model))


def _reranking(settings: RerankerSettings, opened: "Scorer | None") -> Callable[..., RelevanceGrader] | None:
    """Return what puts the configured reranker before another grader; None without a reranker."""
    if opened is None and settings.base_url is None:
        return None
    from tools.rerankers.reranker_endpoint import RerankedGrader, Reranker

    return partial(RerankedGrader, reranker=opened or Reranker(settings), min_score=settings.min_score)


@asynccontextmanager
async def opened_reranker(settings: RerankerSettings) -> "AsyncIterator[OnnxReranker | None]":
    """Open and load the reranker of a folder, and end its process on exit; None where no folder is configured.

    Raises ConfigurationError.
    """
    if settings.kind != "onnx":
        yield None
        return
    from tools.rerankers.onnx_reranker import OnnxReranker

    reranker = await asyncio.to_thread(OnnxReranker, settings.model)
    try:
        await reranker.load()
        yield reranker
    finally:
        await reranker.close()


def _check_names(settings: Settings, models: Mapping[str, ModelSettings]) -> None:
    names = Names("model", models, owner="CITEWELL_MODELS")
    for name, plugin in installed_backends().items():
        names.take(name, plugin)
    default = settings.default_model
    if default != EXTRACTIVE and default not in models and find_backend(default) is None:
        raise ConfigurationError(
            f"default_model: no model is named {default!r}.",
            suggestion="Set CITEWELL_DEFAULT_MODEL to a name of CITEWELL_MODELS or of an installed backend.",
        )


def _check_thinking(model: ModelSettings, thinking: bool) -> None:
    if thinking and model.thinking_model is None:
        raise InvalidRequest(f"thinking: the model {model.name!r} has no thinking model configured.")
