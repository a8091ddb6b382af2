"""citewell eval report: a run's page, written again, for instance with another baseline."""

from pathlib import Path

from cli.command import Exit, run
from cli.console import print_json, progress_console
from cli.options import AsJson, BaselineRun, RunPath


def report(run_path: RunPath, baseline: BaselineRun = None, as_json: AsJson = False) -> None:
    """Take a run's figures anew from its results, and write its report.html again."""
    run(_report(run_path, baseline, as_json), as_json=as_json)


async def _report(run_path: Path, baseline: Path | None, as_json: bool) -> Exit:
    from evals.evaluation import write_figures
    from evals.report.report_baseline import read_baseline
    from evals.run_folder import RunFolder

    folder = RunFolder(run_path)
    write_figures(folder, None if baseline is None else read_baseline(baseline))
    if as_json:
        print_json({"report": str(folder.report)})
    else:
        progress_console().print(f"Written to {folder.report}.")
    return Exit.OK
