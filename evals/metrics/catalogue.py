"""Every measure, grouped for people, in the order in which figures are shown."""

from collections.abc import Mapping

from evals.metrics import Metric
from evals.metrics.abstention import ABSTENTION
from evals.metrics.alce import ALCE
from evals.metrics.answers import ANSWERS
from evals.metrics.cost import COST
from evals.metrics.evidence import EVIDENCE
from evals.metrics.pages import PAGES
from evals.metrics.proof import PROOF
from evals.metrics.retrieval import RETRIEVAL
from evals.metrics.verdicts import VERDICTS

GROUPS: Mapping[str, tuple[Metric, ...]] = {
    "Citations against gold evidence": EVIDENCE,
    "Proof": PROOF,
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

TAGS = ("set", "language", "kind", "topic")  # by whose values figures are grouped, and failures filtered
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
    "ms_p50",
)
