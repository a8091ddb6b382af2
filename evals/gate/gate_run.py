"""The gate's runs through the real graph, judged or saved as a new baseline.

Both families are asked the golden set: extraction is precise by construction, so the second run uses a scripted model
that is wrong half the time. The extractive family is also asked manuals of our own, in the formats that manuals have.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from evals.cases import DataSet
from evals.evaluation import evaluate
from evals.gate.gate_judging import GateJudgement, judge, load_thresholds
from evals.gate.gate_metrics import QUOTES, caught_metrics
from evals.gate.gate_model import RecordedModel, RecordedReply, load_replies
from evals.gate.injected_faults import FAULTS, Fault
from evals.gate_baseline import load_baseline, observed, write_baseline
from evals.metrics import Metric
from evals.metrics.metric_groups import METRICS
from evals.pacing import Progress, with_long_pool_timeout
from evals.records import Record
from evals.run_folder import RunFolder, RunOptions
from evals.scripted_endpoint import model_endpoint
from evals.sets.golden import load_golden
from evals.sets.manuals import manuals_set
from graph.entrypoint import Citewell, open_runner
from graph.errors import InvalidRequest
from tools.process.library import Library, open_library
from tools.settings import EXTRACTIVE, JudgeSettings, ModelSettings, Settings

SCRIPTED = "scripted"
MANUALS = "manuals"
RUNS = (EXTRACTIVE, SCRIPTED, MANUALS)
MANUAL_FOLDER = Path(__file__).resolve().parents[1] / "manual_gate"
_CONTEXT_TOKENS = 32_768  # room for everything that the search returns


@dataclass(frozen=True)
class GateData:
    """The golden set with the scripted model's replies, the manuals, and the metrics of every run."""

    golden: DataSet
    replies: Mapping[str, RecordedReply]
    manuals: DataSet

    def of_run(self, run: str) -> DataSet:
        """Return the questions of a run; for the scripted model, those of the golden set with a recorded reply."""
        if run == MANUALS:
            return self.manuals
        if run == EXTRACTIVE:
            return self.golden
        return replace(self.golden, cases=tuple(case for case in self.golden.cases if case.case_id in self.replies))

    def metrics(self) -> Mapping[str, Metric]:
        """Return every measure that a threshold may name, by name."""
        return {metric.name: metric for metric in (*METRICS, *QUOTES, *caught_metrics(self.replies))}


def load_gate_data() -> GateData:
    """Read the gate's sets and replies. Raises InvalidRequest outside a clone."""
    return GateData(load_golden(), load_replies(), load_gate_manuals())


def load_gate_manuals() -> DataSet:
    """Read our own manuals with their questions; the library of so few is not kept from run to run."""
    return replace(manuals_set(MANUAL_FOLDER), name="manual_gate", lasting=False)


async def run_gate(
    settings: Settings, data: GateData, folder: Path, *, fault: Fault | None = None, progress: Progress | None = None
) -> dict[str, list[Record]]:
    """Run all of ``RUNS``, each into the subfolder of its name, and return their records by run.

    ``fault`` alters the graph's ports. Raises InvalidRequest if the folder is not empty, and what ``run_data_set``
    raises.
    """
    _refuse_used(folder)
    async with gate_library(settings, data) as library:
        resources = library.resources if fault is None else fault(library.resources)
        async with open_runner(library, library.settings, durability="exit", resources=resources) as citewell:
            return {run: await _run(citewell, data, run, RunFolder(folder / run), progress) for run in RUNS}


def _refuse_used(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise InvalidRequest(f"out: {folder} is not empty; the gate needs an empty folder.")


async def _run(
    citewell: Citewell, data: GateData, run: str, folder: RunFolder, progress: Progress | None
) -> list[Record]:
    options = RunOptions(model=SCRIPTED if run == SCRIPTED else EXTRACTIVE, removed=run == EXTRACTIVE)
    await evaluate(citewell, data.of_run(run), options, folder, progress=progress)
    return folder.records()


@asynccontextmanager
async def gate_library(settings: Settings, data: GateData) -> AsyncIterator[Library]:
    """Open the library with the scripted model in addition to the extractive family.

    A deployment's own models, judge, refusal threshold and session titles are not used.
    """
    writer = RecordedModel(data.golden, data.replies)
    async with model_endpoint(writer.reply) as base_url:
        scripted = ModelSettings(name=SCRIPTED, base_url=base_url, model=SCRIPTED, context_tokens=_CONTEXT_TOKENS)
        usual = Settings.model_fields["refuse_below"].default
        changed = {
            "models": [scripted],
            "refuse_below": usual,
            "auto_title": False,
            "judge": JudgeSettings(kind="off"),
        }
        configured = with_long_pool_timeout(settings).model_copy(update=changed)
        async with open_library(configured) as library:
            yield library


async def judge_gate(
    settings: Settings,
    folder: Path,
    *,
    fault: str = "",
    rewrites: bool = False,
    progress: Progress | None = None,
) -> list[GateJudgement]:
    """Run the gate into a folder and judge it; ``fault`` names one of ``FAULTS`` to inject.

    With ``rewrites`` the result becomes the baseline before it is judged. Raises InvalidRequest for an unknown fault,
    a fault together with ``rewrites``, or a folder that is not empty.
    """
    if fault and fault not in FAULTS:
        raise InvalidRequest(f"fault: there is no {fault!r}; there are: {', '.join(FAULTS)}.")
    if fault and rewrites:
        raise InvalidRequest("fault: a run with an injected fault cannot become the baseline.")
    data = load_gate_data()
    metrics, thresholds = data.metrics(), load_thresholds()
    records = await run_gate(settings, data, folder, fault=FAULTS.get(fault), progress=progress)
    measured = {run: {name: observed(metrics[name], records[run]) for name in thresholds[run]} for run in RUNS}
    if rewrites:
        write_baseline(measured)
    baseline = load_baseline()
    return [
        judgement
        for run in RUNS
        for judgement in judge(run, metrics, measured[run], thresholds[run], baseline.get(run, {}))
    ]
