"""All metrics in groups, in display order."""

from collections.abc import Mapping

from evals.metrics import Metric
from evals.metrics.answer_metrics import ABSTENTION, ANSWERS
from evals.metrics.citation_metrics import EVIDENCE, PROOF, VERDICTS
from evals.metrics.cost_metrics import COST
from evals.metrics.faithfulness_metrics import FAITHFULNESS
from evals.metrics.governed_metrics import GOVERNED
from evals.metrics.passage_metrics import PASSAGES
from evals.metrics.retrieval_metrics import PAGES, RETRIEVAL

GROUPS: Mapping[str, tuple[Metric, ...]] = {
    "Citation faithfulness": FAITHFULNESS,
    "Passages shown": PASSAGES,
    "Citations against gold evidence": EVIDENCE,
    "Proof": PROOF,
    "Governed sentences": GOVERNED,
    "Refusals": ABSTENTION,
    "Verdicts of claims": VERDICTS,
    "Answers": ANSWERS,
    "Retrieval": RETRIEVAL,
    "Selected pages": PAGES,
    "Time and cost": COST,
}
METRICS: tuple[Metric, ...] = tuple(metric for group in GROUPS.values() for metric in group)
BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}

TAGS = ("set", "language", "kind", "topic")  # figures are grouped and failures filtered by these
BY_GROUP = (  # what a terminal has room for
    "citation_faithfulness",
    "right",
    "passage_gold_at_1",
    "passage_gold_at_3",
    "found_gold_at_3",
    "nearest_gold",
    "characters_shown",
    "answered_when_answerable",
    "refused_when_not",
    "shown_without_what_governs",
    "twin_answered",
)
KEY_FIGURES = (
    "citation_faithfulness",
    "right",
    "passage_gold_at_1",
    "passage_gold_at_3",
    "characters_shown",
    "answered_when_answerable",
    "refused_when_not",
    "abstention_balanced_accuracy",
    "nearest_gold",
    "shown_without_what_governs",
    "twin_answered",
    "found_gold_at_10",
    "quote_exactness",
    "ms_p50",
)
