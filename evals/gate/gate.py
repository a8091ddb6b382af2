"""The whole gate: both runs, judged; or a new baseline written of them."""

from pathlib import Path

from evals.gate.baseline import load_baseline, write_baseline
from evals.gate.faults import FAULTS
from evals.gate.judging import Judgement, judge
from evals.gate.observations import observed
from evals.gate.runs import RUNS, load_gate_data, run_gate
from evals.gate.thresholds import load_thresholds
from evals.progress import Progress
from graph.errors import InvalidRequest
from tools.settings import Settings


async def judge_gate(
    settings: Settings,
    folder: Path,
    *,
    fault: str = "",
    rewrites: bool = False,
    progress: Progress | None = None,
) -> list[Judgement]:
    """Run the gate into a folder and judge it; ``fault`` names one of ``FAULTS`` to run with.

    With ``rewrites`` what was measured becomes the baseline before it is judged. Raises InvalidRequest for an unknown
    fault, one that is to become the baseline, or a folder in use.
    """
    if fault and fault not in FAULTS:
        raise InvalidRequest(f"fault: there is no {fault!r}; there are: {', '.join(FAULTS)}.")
    if fault and rewrites:
        raise InvalidRequest("fault: a run with a fault in it makes no baseline.")
    golden = load_gate_data()
    metrics, thresholds = golden.metrics(), load_thresholds()
    records = await run_gate(settings, golden, folder, fault=FAULTS.get(fault), progress=progress)
    measured = {run: {name: observed(metrics[name], records[run]) for name in thresholds[run]} for run in RUNS}
    if rewrites:
        write_baseline(measured)
    baseline = load_baseline()
    return [
        judgement
        for run in RUNS
        for judgement in judge(run, metrics, measured[run], thresholds[run], baseline.get(run, {}))
    ]
