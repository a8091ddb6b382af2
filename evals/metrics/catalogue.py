"""Every measure, in the order in which figures are shown."""

from evals.metrics import Metric
from evals.metrics.proof import PROOF
from evals.metrics.retrieval import RETRIEVAL

METRICS: tuple[Metric, ...] = (*RETRIEVAL, *PROOF)
