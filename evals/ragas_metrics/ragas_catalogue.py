"""Records in ragas' data set format, and the available ragas metrics under ragas' own names.

ragas is imported with its telemetry off and its own deprecation warnings silenced.

Two metrics that need no model are left out because ragas 0.4.3 cannot compute them for texts like ours: ``BleuScore``
scores 0.0 for a right answer of one word, and ``RougeScore`` handles only the Latin script.
"""

import json
import os
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from evals.records import GoldSentence, Record
from graph.errors import ConfigurationError, InvalidRequest


class Sample(TypedDict):
    """A ``SingleTurnSample`` of ragas; empty fields are absent, as ragas writes it.

    Contexts are the segments shown to the writer, best first, and their ids are the names of their documents: Citewell
    cuts the segments, so only document names also occur in gold evidence. Reference contexts are the gold sentences,
    joined by document.
    """

    user_input: str
    retrieved_contexts: list[str]
    retrieved_context_ids: list[str]
    response: NotRequired[str]
    reference: NotRequired[str]
    reference_contexts: NotRequired[list[str]]
    reference_context_ids: NotRequired[list[str]]


def sample_of(record: Record) -> Sample:
    """Return a record as a sample.

    A follow-up's question is the run's standalone version. The response is present if the run answered; references are
    present if an answer is expected: the first of the right answers, and the first of the sets of evidence.
    """
    sample = Sample(
        user_input=record["standalone_question"] if record["before"] else record["question"],
        retrieved_contexts=[source["text"] for source in record["sources"]],
        retrieved_context_ids=[source["document"] for source in record["sources"]],
    )
    if record["outcome"] == "answered":
        sample["response"] = record["answer"]
    if record["expected"] == "answered":
        if record["answers"]:
            sample["reference"] = record["answers"][0]
        if record["evidence"]:
            texts = _by_document(record["evidence"][0])
            sample["reference_contexts"], sample["reference_context_ids"] = list(texts.values()), list(texts)
    return sample


def write_samples(file: Path, records: Iterable[Record]) -> int:
    """Write the samples of runs that did not fail as JSON lines; return their number."""
    samples = [sample_of(record) for record in records if record["error"] is None]
    lines = (json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
    file.write_text("".join(lines), encoding="utf-8")
    return len(samples)


def _by_document(sentences: Iterable[GoldSentence]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for sentence in sentences:
        before = texts.get(sentence["document"])
        texts[sentence["document"]] = sentence["text"] if before is None else f"{before} {sentence['text']}"
    return texts


@dataclass(frozen=True, slots=True)
class Ragas:
    """The parts of ragas in use, untyped: importing it takes seconds, checking its types takes longer."""

    version: str
    collections: Any
    metrics: Any
    single_turn_sample: Callable[..., Any]
    llm_factory: Callable[..., Any]


@cache
def load_ragas() -> Ragas:
    """Import ragas. Raises ConfigurationError if the extra is not installed."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import ragas
            import ragas.metrics.collections
            from ragas import _analytics
            from ragas.llms import llm_factory
    except ImportError as error:
        raise ConfigurationError(
            f"ragas cannot be imported: {error}.",
            suggestion="Install the extra with `pip install 'citewell[ragas]'`, or run `make test`, which includes it.",
        ) from error
    # ragas caches the variable at its first event; cache it now, before the environment can change.
    _analytics.do_not_track.cache_clear()
    _analytics.do_not_track()
    # Untracked events still request a user id, which ragas writes below the home folder; the null device prevents that.
    _analytics.user_data_dir = lambda **_: os.devnull
    return Ragas(ragas.__version__, ragas.metrics.collections, ragas.metrics, ragas.SingleTurnSample, llm_factory)


def deprecated_metric(name: str) -> Any:
    """Return a deprecated class of ``ragas.metrics`` whose announced successor in ``collections`` does not exist."""
    found = load_ragas()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f"Importing {name} from 'ragas.metrics'", DeprecationWarning)
        return getattr(found.metrics, name)


Field = Literal[
    "user_input", "response", "retrieved_contexts", "reference", "reference_contexts", "reference_context_ids"
]
Score = Callable[[Sample], Awaitable[float | None]]  # None: nothing to score in the sample

TRIES_OF_A_JUDGE = 2  # for each of groundedness' two judges; ragas' own default is 5


@dataclass(frozen=True, slots=True)
class RagasMetric:
    """A metric of ragas. ``needs`` are the sample fields that it requires.

    ``scorer`` returns the function that scores samples; if ``judged``, it takes the judge, an LLM object of ragas.
    """

    name: str
    needs: tuple[Field, ...]
    scorer: Callable[[Any], Score]
    judged: bool = False


def _judged(name: str, class_name: str, *needs: Field) -> RagasMetric:
    def scorer(judge: Any) -> Score:
        return _by_fields(getattr(load_ragas().collections, class_name)(llm=judge), needs)

    return RagasMetric(name, needs, scorer, judged=True)


def _of_response(name: str, class_name: str) -> RagasMetric:
    needs: tuple[Field, ...] = ("reference", "response")
    return RagasMetric(name, needs, lambda _: _by_fields(getattr(load_ragas().collections, class_name)(), needs))


def _of_contexts(name: str, class_name: str, *needs: Field) -> RagasMetric:
    return RagasMetric(name, needs, lambda _: _by_sample(deprecated_metric(class_name)()))


def _by_fields(metric: Any, needs: tuple[Field, ...]) -> Score:
    async def score(sample: Sample) -> float:
        result = await metric.ascore(**{field: sample[field] for field in needs})
        return float(result.value)

    return score


def _by_sample(metric: Any) -> Score:
    async def score(sample: Sample) -> float:
        return float(await metric.single_turn_ascore(load_ragas().single_turn_sample(**sample)))

    return score


def _faithfulness(judge: Any) -> Score:
    metric = load_ragas().collections.Faithfulness(llm=judge)
    create_verdicts = metric._create_verdicts

    async def create_every_verdict(statements: list[str], context: str) -> Any:
        verdicts = await create_verdicts(statements, context)
        if len(verdicts.statements) != len(statements):  # ragas would score the answer by the verdicts it got
            raise ValueError(f"{len(verdicts.statements)} verdicts on {len(statements)} statements")
        return verdicts

    metric._create_verdicts = create_every_verdict
    return _by_fields(metric, ("user_input", "response", "retrieved_contexts"))


def _groundedness(judge: Any) -> Score:
    metric = load_ragas().collections.ResponseGroundedness(llm=judge, max_retries=TRIES_OF_A_JUDGE)
    # If one of its two judges fails, ragas uses the other's rating for both; here the score becomes NaN.
    metric._average_scores = lambda one, other: (one + other) / 2
    return _by_fields(metric, ("response", "retrieved_contexts"))


def _quoted_spans(_: Any) -> Score:
    metric = load_ragas().collections.QuotedSpansAlignment()

    async def score(sample: Sample) -> float | None:
        result = await metric.ascore(response=sample["response"], retrieved_contexts=sample["retrieved_contexts"])
        return None if result.reason == "No quoted spans found in response" else float(result.value)

    return score


CATALOGUE: Mapping[str, RagasMetric] = {
    metric.name: metric
    for metric in (
        RagasMetric("faithfulness", ("user_input", "response", "retrieved_contexts"), _faithfulness, judged=True),
        _judged("context_precision", "ContextPrecision", "user_input", "reference", "retrieved_contexts"),
        _judged("context_recall", "ContextRecall", "user_input", "retrieved_contexts", "reference"),
        RagasMetric("response_groundedness", ("response", "retrieved_contexts"), _groundedness, judged=True),
        _of_contexts(
            "id_based_context_precision", "IDBasedContextPrecision", "retrieved_contexts", "reference_context_ids"
        ),
        _of_contexts("id_based_context_recall", "IDBasedContextRecall", "reference_context_ids"),
        _of_contexts(
            "non_llm_context_precision_with_reference",
            "NonLLMContextPrecisionWithReference",
            "retrieved_contexts",
            "reference_contexts",
        ),
        _of_contexts("non_llm_context_recall", "NonLLMContextRecall", "retrieved_contexts", "reference_contexts"),
        _of_response("exact_match", "ExactMatch"),
        _of_response("string_present", "StringPresence"),
        _of_response("non_llm_string_similarity", "NonLLMStringSimilarity"),
        _of_response("chrf_score", "CHRFScore"),
        RagasMetric("quoted_spans_alignment", ("response", "retrieved_contexts"), _quoted_spans),
    )
}


def chosen_metrics(names: Sequence[str], *, with_judge: bool) -> list[RagasMetric]:
    """Return the named metrics, or all available ones if none is named.

    Raises InvalidRequest if a name is unknown, or a metric needs a judge and there is none.
    """
    if unknown := [name for name in names if name not in CATALOGUE]:
        raise InvalidRequest(f"metrics: {unknown[0]!r} is not available; there are: {', '.join(CATALOGUE)}.")
    chosen = [CATALOGUE[name] for name in names] or [m for m in CATALOGUE.values() if with_judge or not m.judged]
    if not with_judge and (judged := [metric.name for metric in chosen if metric.judged]):
        raise InvalidRequest(f"model: {judged[0]} needs a judging model; name a configured one with --model.")
    return chosen
