"""citewell eval probe: is what an answer cites what it rests on."""

import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.eval.options import Concurrency, DataSetName, DataSetPath, ModelName
from cli.eval.run_path import new_run_path
from cli.eval.showing import progress_bar, show_figures, tell_faults
from cli.exits import Exit
from cli.opening import opened, settings_for
from cli.options import AsJson
from cli.output import print_json, progress_console
from cli.running import run

if TYPE_CHECKING:
    from evals.probe.probing import ProbeReport

MOST = 40


def probe(
    data_set: DataSetName = "golden",
    path: DataSetPath = None,
    model: ModelName = "extractive",
    scripted: Annotated[
        str | None,
        typer.Option(
            "--scripted",
            help="Probe a scripted model in its place: honest, cheating, half-cheating, by-position, obeying.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int, typer.Option("--most", min=1, help="Ask only so many answerable questions, spread evenly.")
    ] = MOST,
    out: Annotated[Path | None, typer.Option("--out", help="The run's folder.", show_default="runs/probe-...")] = None,
    concurrency: Concurrency = 4,
    as_json: AsJson = False,
) -> None:
    """Take away or alter what answers cite, and ask again: a citation that makes no difference is decoration.

    Beside it: segments shuffled, ids swapped, an instruction planted. The folder holds configuration.json and
    probe.json.
    """
    run(_probe(data_set, path, model, scripted, most, out, concurrency, as_json), as_json=as_json)


async def _probe(
    data_set: str,
    path: Path | None,
    model: str,
    scripted: str | None,
    most: int,
    out: Path | None,
    concurrency: int,
    as_json: bool,
) -> Exit:
    from evals.configuration import configuration_of
    from evals.datasets import load_data_set
    from evals.patience import patient
    from evals.probe.probing import answerable, probe_data_set
    from evals.probe.scripted import scripted_model
    from evals.run_folder import RunFolder
    from evals.running import RunOptions

    data = answerable(load_data_set(data_set, path)).sample(most)
    options = RunOptions(model=scripted or model, concurrency=concurrency)
    folder = RunFolder(out or new_run_path("probe", data.name, options.model))
    settings = patient(settings_for())
    configuration = configuration_of(data, options, settings)
    async with AsyncExitStack() as stack:
        if scripted is not None:
            settings = await stack.enter_async_context(scripted_model(settings, scripted))
        citewell = await stack.enter_async_context(opened(settings, durability="exit"))
        citewell.library.families(options.model)  # an unknown model is told before there is a folder
        folder.begin(configuration)
        with progress_bar("Probing") as progress:
            report = await probe_data_set(citewell.library, data, options, progress=progress)
    file = folder.path / "probe.json"
    file.write_text(json.dumps(report, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    if as_json:
        print_json({"run": str(folder.path), **report})
    else:
        _show(report)
        progress_console().print(f"Written to {file}.")
    return Exit.OK


def _show(report: "ProbeReport") -> None:
    show_figures(report["figures"])
    console = progress_console()
    for change, effects in report["effects"].items():
        counts = ", ".join(f"{count} {effect}" for effect, count in effects.items())
        console.print(f"Where cited text was {change}: {counts or 'nothing to probe'}.")
    console.print(f"{report['probed']} of {report['questions']} questions probed.")
    if failed := report["failed"]:
        tell_faults(f"{len(failed)} runs failed:", list(failed.items()), rest_in="probe.json")
