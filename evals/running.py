"""Run a data set through the real graph: ingest it into a temporary workspace, ask every question, record each."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from evals.cases import Case, DataSet
from evals.dataset_store import stored_data_set, without_documents
from evals.pacing import Progress, for_each_concurrently
from evals.recorder import Recorder
from evals.records import Record, Variant
from evals.retrievers import RetrieverName
from graph.context import Context
from graph.entrypoint import Citewell
from graph.evidence import Identity

Keep = Callable[[Record], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a data set is run.

    ``removed`` also asks each question that has an unanswerable twin of the library without the documents it needs.
    ``concurrency`` is how many questions are in flight. ``retriever`` names what the Citewell that is asked was opened
    with. The rest configure each run.
    """

    model: str = "extractive"
    concurrency: int = 4
    removed: bool = False
    top_k: int = 10
    min_score: float = 0.3
    max_rewrites: int = 1
    max_repairs: int = 1
    check_with_model: bool = False
    retriever: RetrieverName = "ours"

    def context(self, identity: Identity) -> Context:
        """Give the knobs of one run; its seconds are not capped, since how long it takes is a figure."""
        return Context(
            workspace=identity.workspace,
            user=identity.user,
            model=self.model,
            top_k=self.top_k,
            min_score=self.min_score,
            max_rewrites=self.max_rewrites,
            max_repairs=self.max_repairs,
            check_with_model=self.check_with_model,
            max_seconds=None,
        )


async def run_data_set(
    citewell: Citewell,
    data: DataSet,
    options: RunOptions,
    keep: Keep,
    *,
    done: frozenset[tuple[str, Variant]] = frozenset(),
    progress: Progress | None = None,
) -> None:
    """Ask every question that is not ``done``, and hand each record to ``keep`` as soon as it is there.

    The library is a workspace of its own and goes with the run. Runs that fail are recorded and do not end it.
    Raises InvalidRequest where a document is refused, CitewellError where the library can't be read.
    """
    wanted = [("asked", case) for case in data.cases] + [
        ("removed", case) for case in data.cases if options.removed and case.removal
    ]
    left = [(variant, case) for variant, case in wanted if (case.case_id, variant) not in done]
    finished = len(wanted) - len(left)
    if progress is not None:
        progress(finished, len(wanted))

    def keep_and_tell(record: Record) -> None:
        nonlocal finished
        keep(record)
        finished += 1
        if progress is not None:
            progress(finished, len(wanted))

    async with stored_data_set(citewell.library, data) as (stored, identity):
        recorder = Recorder(citewell, stored, options.context(identity))
        await _ask_all(recorder, [c for v, c in left if v == "asked"], "asked", options.concurrency, keep_and_tell)
        for names, cases in _by_removal([c for v, c in left if v == "removed"]).items():
            async with without_documents(citewell.library, identity, stored.to_store(names)):
                await _ask_all(recorder, cases, "removed", options.concurrency, keep_and_tell)


async def _ask_all(recorder: Recorder, cases: Sequence[Case], variant: Variant, at_once: int, keep: Keep) -> None:
    async def ask(case: Case) -> None:
        keep(await recorder.ask(case, variant))

    await for_each_concurrently(cases, ask, at_once=at_once)


def _by_removal(cases: Iterable[Case]) -> dict[tuple[str, ...], list[Case]]:
    groups: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.removal].append(case)
    return groups
