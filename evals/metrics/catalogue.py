"""Every measure, in the order in which figures are shown."""

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

METRICS: tuple[Metric, ...] = (
    *EVIDENCE,
    *ALCE.metrics,
    *PROOF,
    *VERDICTS,
    *ABSTENTION,
    *ANSWERS,
    *RETRIEVAL,
    *PAGES,
    *COST,
)
