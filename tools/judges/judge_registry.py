"""The judge of a deployment: the model that writes, one at an endpoint of its own, or an installed one.

Other distributions add judges under the entry point ``citewell.judges``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from graph.errors import ConfigurationError
from graph.ports import Judge
from tools.judges.judge_batches import JUDGE_SECONDS
from tools.plugins.entry_points import JUDGES, Names, Plugin, load_plugins
from tools.settings import JUDGE_KINDS, JudgeSettings, ModelSettings, Settings


@dataclass(frozen=True, slots=True)
class JudgeKind:
    """A kind of judge that a distribution adds; ``kind`` is the name that ``judge.kind`` selects it by.

    ``open`` is called with the judge's settings and the model that writes, None for the extractive family. It returns
    None where it has no judge for that model, and raises ConfigurationError for settings that can't work.
    """

    kind: str
    open: Callable[[JudgeSettings, ModelSettings | None], Judge | None]

    def __post_init__(self) -> None:
        if not self.kind.strip() or not callable(self.open):
            raise TypeError("a JudgeKind needs a name and a callable that opens its Judge")


@cache
def installed_judges() -> Mapping[str, Plugin[JudgeKind]]:
    """Return the judges of other distributions by kind, loaded at the first call.

    Raises ConfigurationError if one is broken or its kind is taken.
    """
    names = Names("kind of judge", JUDGE_KINDS)
    plugins = load_plugins(JUDGES, JudgeKind)
    for plugin in plugins:
        names.take(plugin.value.kind, plugin)
    return {plugin.value.kind: plugin for plugin in plugins}


def check_judge(settings: Settings) -> None:
    """Check that the judge's kind exists. Raises ConfigurationError, also where an installed judge is broken."""
    kind, installed = settings.judge.kind, installed_judges()
    if kind not in JUDGE_KINDS and kind not in installed:
        known = ", ".join([*JUDGE_KINDS, *installed])
        raise ConfigurationError(
            f"judge.kind: there is no kind {kind!r} of judge; there are: {known}.",
            suggestion="Set CITEWELL_JUDGE__KIND to one of them, or install the distribution that adds it.",
        )


def configured_judge(settings: Settings, model: ModelSettings | None) -> Judge | None:
    """Return the judge for answers of ``model``, None for the extractive family's; keep it for the process.

    It is None where judging is off, and where nothing could judge: without a model, and without an endpoint of its own.
    Nothing is opened or requested before its first claim. Raises ConfigurationError where the kind does not exist.
    """
    judge = settings.judge
    check_judge(settings)
    if judge.kind not in JUDGE_KINDS:
        return installed_judges()[judge.kind].value.open(judge, model)
    if judge.kind == "entailment":
        from tools.judges.entailment import EntailmentJudge

        return EntailmentJudge(judge)
    judging = judging_model(judge, model, settings.models)
    if judging is None or judge.kind == "off":
        return None
    if judge.kind == "minicheck":
        from tools.judges.minicheck import MiniCheckJudge

        return MiniCheckJudge(judging)
    from tools.judges.chat_judge import ChatJudge

    return ChatJudge(judging)


def judging_model(
    judge: JudgeSettings, model: ModelSettings | None, models: Sequence[ModelSettings]
) -> ModelSettings | None:
    """Return the chat model that judges: at the judge's endpoint, else at that of the model that writes.

    How much fits into a request is what an entry of the models says of the same model at the same endpoint.
    """
    if judge.base_url is not None:
        judging = ModelSettings(
            name="judge",
            base_url=judge.base_url,
            api_key=judge.api_key,
            model=judge.model,
            timeout_seconds=JUDGE_SECONDS,
        )
        same = (each for each in models if (each.base_url, each.model) == (judging.base_url, judging.model))
        known = next(same, judging)
        return judging.model_copy(update={"context_tokens": known.context_tokens})
    return model.model_copy(update={"model": judge.model}) if model is not None and judge.model else model
