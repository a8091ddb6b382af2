"""Metrics of this process, for Prometheus.

Labels have few values: outcomes, codes, configured models, route templates. None names a workspace, a user, a session
or a run.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import prometheus_client
from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder

from graph.events import AnyEvent, RunFailed, RunFinished, TextDelta

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
Counter = partial(prometheus_client.Counter, registry=REGISTRY)
Gauge = partial(prometheus_client.Gauge, registry=REGISTRY)
Histogram = partial(prometheus_client.Histogram, registry=REGISTRY)

QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)  # seconds
SLOW = (0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160)
NOBODY = "nobody"  # gave a verdict of `unverified`

RUNS = Counter(
    "citewell_runs",
    "Runs whose end this process has stored.",
    ["outcome", "stop_reason"],
)
VERDICTS = Counter(
    "citewell_verdicts",
    "Claims of the answers that this process has stored, by verdict and by who gave it.",
    ["verdict", "by"],
)
FIRST_EVENT = Histogram(
    "citewell_run_first_event_seconds",
    "From a run's request until its first event is committed.",
    buckets=QUICK,
)
FIRST_TEXT = Histogram(
    "citewell_run_first_text_seconds",
    "From a run's request until the first text of its answer is committed.",
    buckets=SLOW,
)
RUN_SECONDS = Histogram(
    "citewell_run_seconds",
    "From a run's request until its end is stored.",
    ["outcome"],
    buckets=SLOW,
)
RETRIEVALS = Histogram(
    "citewell_retrieval_seconds",
    "Searches of the library.",
    buckets=QUICK,
)
VECTOR_MEMORY = Gauge(
    "citewell_vector_memory_bytes",
    "Memory of the vectors that this process holds for its searches.",
)
INDEX_SEARCHES = Counter(
    "citewell_index_searches",
    "Searches with an index outside of PostgreSQL: `answered` by its candidates, or by PostgreSQL alone since it"
    " `failed`, is `resting` after that, is `lacking` a part of the library, or filters left too few (`narrow`).",
    ["result"],
)
UNKNOWN_CANDIDATES = Counter(
    "citewell_index_unknown_candidates",
    "Candidates of this index that the workspace does not hold, and that were dropped.",
)
INDEX_ROWS = Counter(
    "citewell_index_rows",
    "Rows of this index that this process has `written` or `deleted`.",
    ["change"],
)
REPLICA_UP = Gauge("citewell_replica_up", "1 while the read replica answers, 0 while the primary does.")
REPLICA_LAG = Gauge(
    "citewell_replica_lag_seconds",
    "How long the read replica has not replayed what the primary had.",
)
REPLICA_READINGS = Counter(
    "citewell_replica_readings",
    "Readings by what became of them: `replica` answered, or the primary did, for the reason that the label tells.",
    ["result"],
)
REPLICA_WAIT = Histogram(
    "citewell_replica_wait_seconds",
    "How long readings waited until the replica had replayed what was acknowledged before them.",
    buckets=(0.001, *QUICK),
)
MODEL_CALLS = Counter(
    "citewell_model_calls",
    "Requests to model endpoints, retries included; `code` is `ok` or that of the error.",
    ["operation", "model", "code"],
)
MODEL_TOKENS = Counter(
    "citewell_model_tokens",
    "Tokens of these requests, estimated where an endpoint reports none.",
    ["operation", "model", "type"],
)
MODEL_SECONDS = Histogram(
    "citewell_model_call_seconds",
    "Requests to model endpoints, to the end of the reply.",
    ["operation", "model"],
    buckets=SLOW,
)
FILES = Counter(
    "citewell_ingested_files",
    "Files of jobs that this process has read, by what became of them.",
    ["result"],
)
FEEDBACK = Counter(
    "citewell_feedback",
    "Feedback on answers that this process has stored, changed ones too; `reason` is empty where none was given.",
    ["rating", "reason"],
)
SEGMENTS = Counter("citewell_ingested_segments", "Segments that this process has stored.")
TAKEN_OVER = Counter("citewell_runs_taken_over", "Runs taken over from processes that died.")
LEASE_FAILURES = Counter(
    "citewell_lease_failures",
    "Times that leases could not be extended, of `runs` or of `files`.",
    ["of"],
)
LIVE_STREAMS = Gauge("citewell_live_streams", "Server-Sent Event streams of runs that are open.")
HTTP_REQUESTS = Counter(
    "citewell_http_requests",
    "HTTP requests, by the template of their route.",
    ["method", "route", "status"],
)
HTTP_SECONDS = Histogram(
    "citewell_http_request_seconds",
    "HTTP requests, streams included, to the end of the response.",
    ["method", "route"],
    buckets=SLOW,
)


def _release() -> str:
    try:
        return version("citewell")
    except PackageNotFoundError:
        return "unknown"


prometheus_client.Info("citewell_build", "The release of Citewell.", registry=REGISTRY).info({"version": _release()})


@dataclass(slots=True)
class RunMetrics:
    """The metrics of one run, fed with its events as they are committed.

    ``whole`` is False for a run that another process began: how long it took in all is not known here.
    """

    whole: bool = True
    _began: float = field(default_factory=time.perf_counter)
    _events: int = 0
    _has_text: bool = False

    def feed(self, event: AnyEvent) -> None:
        """Count an event that has just been committed."""
        self._events += 1
        if self.whole and self._events == 1:
            FIRST_EVENT.observe(self._seconds)
        match event:
            case TextDelta() if self.whole and not self._has_text:
                self._has_text = True
                FIRST_TEXT.observe(self._seconds)
            case RunFinished():
                self._end(event.outcome, event.stop_reason)
                for claim in event.message.get("claims", ()):
                    VERDICTS.labels(claim["verdict"], claim.get("by", NOBODY)).inc()
            case RunFailed():
                self._end("failed", event.code)
            case _:
                pass

    def _end(self, outcome: str, stop_reason: str) -> None:
        RUNS.labels(outcome, stop_reason).inc()
        if self.whole:
            RUN_SECONDS.labels(outcome).observe(self._seconds)

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._began


@dataclass(frozen=True, slots=True)
class Reading:
    """Values that are read when the metrics are, by those of their label; one without a label is under ""."""

    name: str
    meaning: str
    values: Mapping[str, float]
    label: str = ""
    counts: bool = False

    def family(self) -> Metric:
        kind = CounterMetricFamily if self.counts else GaugeMetricFamily
        family = kind(self.name, self.meaning, labels=[self.label] if self.label else [])
        for labelled, value in self.values.items():
            family.add_metric([labelled] if self.label else [], value)
        return family


Gatherer = Callable[[], Awaitable[list[Reading]]]  # a source of readings at the time of a scrape


@dataclass(frozen=True, slots=True)
class _Joined:
    """What a scrape is written from: the process's own metrics, and the readings taken for it."""

    readings: Iterable[Reading]

    def collect(self) -> Iterator[Metric]:
        yield from REGISTRY.collect()
        for reading in self.readings:
            yield reading.family()


async def exposition(accept: str, gatherers: Iterable[Gatherer]) -> tuple[bytes, str]:
    """Return all metrics and their media type: OpenMetrics where ``accept`` asks for it, else Prometheus text."""
    readings = [reading for gatherer in gatherers for reading in await gatherer()]
    encode, media_type = choose_encoder(accept)
    return encode(_Joined(readings)), media_type
