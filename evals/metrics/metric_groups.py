"""All metrics in groups, in display order."""

from collections.abc import Mapping

from evals.metrics import Metric
from evals.metrics.alce import ALCE
from evals.metrics.answer_metrics import ABSTENTION, ANSWERS
from evals.metrics.citation_metrics import EVIDENCE, PROOF, VERDICTS
from evals.metrics.cost_metrics import COST
from evals.metrics.governed_metrics import GOVERNED
from evals.metrics.manual_metrics import MANUALS
from evals.metrics.retrieval_metrics import PAGES, RETRIEVAL

GROUPS: Mapping[str, tuple[Metric, ...]] = {
    "Citations against gold evidence": EVIDENCE,
    "Proof": PROOF,
    "Manuals": MANUALS,
    "Governed sentences": GOVERNED,
    "Citations by support (ALCE)": ALCE.metrics,
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
KEY_FIGURES = (
    "citation_precision",
    "citation_recall",
    "abstention_accuracy",
    "quote_exactness",
    "id_validity",
    "claims_supported",
    "recall_at_1",
    "recall_at_5",
    "answer_containment",
    "characters_per_quote",
    "ms_p50",
)
