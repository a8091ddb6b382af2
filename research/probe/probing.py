"""The probe of a data set: every answer's citations and the metamorphic checks, with intervals over questions."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from typing_extensions import TypedDict

from evals.bootstrap import interval
from evals.cases import Case, DataSet
from evals.dataset_store import stored_data_set
from evals.metrics import Figures, as_figure
from evals.pacing import Progress
from evals.run_folder import RunOptions
from graph.entrypoint import open_runner
from graph.errors import CitewellError
from research.probe.counterfactual import Change, CounterfactualProbe, Effect, Finding
from research.probe.intervention import Asker, Reply, intervened
from research.probe.metamorphic import Checks, metamorphic_checks
from tools.concurrency.tasks import for_each_concurrently
from tools.process.library import Library


class ProbeReport(TypedDict):
    """The report of a probe. ``figures`` are means with intervals over the ``probed`` of the ``questions`` asked.

    The others were not answered, or cite nothing, or ``failed``, by question with the reason. ``effects`` counts
    citations by the effect of removing or altering their text, ``unchanged`` the decorations among them by the verdict
    on their claims.
    """

    data: str
    model: str
    questions: int
    probed: int
    failed: dict[str, str]
    figures: Figures
    effects: dict[Change, dict[Effect, int]]
    unchanged: dict[Change, dict[str, int]]
    citations: list[Finding]
    checks: list[Checks]


@dataclass(frozen=True, slots=True)
class _Probed:
    findings: list[Finding]
    checks: Checks


def answerable(data: DataSet) -> DataSet:
    """Return the data set with only the questions that its documents answer."""
    return replace(data, cases=tuple(case for case in data.cases if case.expected == "answered"))


async def probe_data_set(
    library: Library, data: DataSet, options: RunOptions, *, progress: Progress | None = None
) -> ProbeReport:
    """Ask every question of a data set, and again under each change of the text that its answer cites.

    The data set is ingested into a throw-away workspace, which no change modifies. Raises UnknownModel, InvalidRequest
    where a document is refused, CitewellError where every run fails.
    """
    probed: dict[str, _Probed] = {}
    failed: dict[str, str] = {}
    resources = intervened(library.resources)
    resources.families(options.model)  # preloaded: loading would delay the first runs while they hold connections
    async with (
        stored_data_set(library, data) as (stored, identity),
        open_runner(library, library.settings, durability="exit", resources=resources) as citewell,
    ):
        asker, count = Asker(citewell, stored, options.context(identity)), itertools.count(1)

        async def probe(case: Case) -> None:
            reply = await asker.ask(case)
            if reply.failure:
                failed[case.case_id] = reply.failure
            elif any(reply.cited) and reply.claims:
                probed[case.case_id] = await _probe(asker, case, reply)
            done = next(count)
            if progress is not None:
                progress(done, len(data.cases))

        await for_each_concurrently(data.cases, probe, at_once=options.concurrency)
    if data.cases and len(failed) == len(data.cases):
        raise CitewellError(f"Every run failed, the first because: {next(iter(failed.values()))}")
    in_order = [probed[case.case_id] for case in data.cases if case.case_id in probed]
    return _report(data, options, in_order, failed)


async def _probe(asker: Asker, case: Case, reply: Reply) -> _Probed:
    segments = await asker.segments(list(dict.fromkeys(segment_id for ids in reply.cited for segment_id in ids)))
    findings = await CounterfactualProbe(asker, case, reply, segments).findings()
    return _Probed(findings, await metamorphic_checks(asker, case, reply, segments))


def _report(data: DataSet, options: RunOptions, probed: Sequence[_Probed], failed: dict[str, str]) -> ProbeReport:
    findings = [finding for each in probed for finding in each.findings]
    return ProbeReport(
        data=data.name,
        model=options.model,
        questions=len(data.cases),
        probed=len(probed),
        failed=failed,
        figures=_figures(probed),
        effects={change: _effects(findings, change) for change in get_args(Change)},
        unchanged={change: _verdicts(findings, change) for change in get_args(Change)},
        citations=findings,
        checks=[each.checks for each in probed],
    )


def _effects(findings: Iterable[Finding], change: Change) -> dict[Effect, int]:
    counts = Counter(finding["effect"] for finding in findings if finding["change"] == change)
    return {effect: counts[effect] for effect in get_args(Effect) if counts[effect]}


def _verdicts(findings: Iterable[Finding], change: Change) -> dict[str, int]:
    return dict(Counter(str(f["verdict"]) for f in findings if f["change"] == change and f["verdict"] is not None))


def _figures(probed: Sequence[_Probed]) -> Figures:
    observed = {
        name: [[float(value) for value in observe(each)] for each in probed] for name, observe in _OBSERVED.items()
    }
    return {name: as_figure(interval(values)) for name, values in observed.items() if any(values)}


def _of(change: Change, effect: Effect) -> Callable[[_Probed], list[float]]:
    return lambda probed: [float(f["effect"] == effect) for f in probed.findings if f["change"] == change]


def _known(value: float | bool | None) -> list[float]:
    return [] if value is None else [float(value)]


_OBSERVED: dict[str, Callable[[_Probed], Sequence[float]]] = {
    "decoration_removed": _of("removed", "unchanged"),
    "decoration_altered": _of("altered", "unchanged"),
    "followed_altered": _of("altered", "changed"),
    "decoration_shown": lambda probed: [float(f["shown"]) for f in probed.findings if f["effect"] == "unchanged"],
    "repeated": lambda probed: _known(probed.checks["repeated"]),
    "shuffled_same": lambda probed: _known(probed.checks["shuffled"]),
    "swap_caught": lambda probed: [float(caught) for caught in probed.checks["swapped"]],
    "planted_cited_same": lambda probed: _known(probed.checks["planted"]),
    "planted_same": lambda probed: _known(probed.checks["planted_same"]),
    "planted_quoted": lambda probed: _known(probed.checks["planted_quoted"]),
    "planted_obeyed": lambda probed: _known(probed.checks["obeyed"]),
}
