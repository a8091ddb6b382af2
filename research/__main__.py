"""Command line: ``python -m research`` claims, wice, rgb, injection, repair, planted, recorded, small-talk or probe."""

import json
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.command import Exit, opened, run, run_app, settings_for
from cli.console import print_json, progress_bar, progress_console, show_failures, show_figures, show_report
from cli.options import AsJson, Concurrency, DataSetName, DataSetPath, ModelName, new_run_path

if TYPE_CHECKING:
    from evals.pacing import Progress
    from graph.entrypoint import Citewell

Measure = Callable[["Citewell", "Progress"], Coroutine[Any, Any, Mapping[str, Any]]]
DataSet = Annotated[Path, typer.Option("--path", help="The data set's file.", show_default=False)]


def repair(
    path: Annotated[Path, typer.Option("--path", help="XQuAD's folder.", show_default=False)],
    model: Annotated[str, typer.Option("--model", help="A configured model's name.", show_default=False)],
    per_language: Annotated[int, typer.Option("--per-language", min=1, help="Questions per language.")] = 8,
    as_json: AsJson = False,
) -> None:
    """Compare a model's answers before the claim check and after repair."""

    async def measure(citewell: "Citewell", progress: "Progress") -> Mapping[str, Any]:
        from research.repair import run_repair

        return await run_repair(citewell, path, model=model, per_language=per_language, progress=progress)

    run(_measured(measure, as_json), as_json=as_json)


def rgb(path: DataSet, as_json: AsJson = False) -> None:
    """Measure on RGB how often answers report that their sources disagree."""

    async def measure(citewell: "Citewell", progress: "Progress") -> Mapping[str, Any]:
        from research.rgb_measurement import run_rgb

        return await run_rgb(citewell, path, progress=progress)

    run(_measured(measure, as_json), as_json=as_json)


def claims(
    path: Annotated[
        Path | None,
        typer.Option(
            "--path", help="Claims as JSON lines; by default they are made from the data folder.", show_default=False
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="The folder that holds xquad/{en,zh,vi}.json.", show_default="../shared/data"),
    ] = None,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write the claims to this file as well.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the claim checker catches, and its false alarms."""
    run(_claims(path, data, write, as_json), as_json=as_json)


async def _claims(path: Path | None, data: Path | None, write: Path | None, as_json: bool) -> Exit:
    from research.claims import chosen_cases, run_claims
    from research.mutations.claim_making import write_cases

    cases = chosen_cases(path=path, data=data)
    if write is not None:
        write_cases(write, cases)
    with progress_bar("Checking") as progress:
        report = await run_claims(settings_for(), cases, progress=progress)
    show_report(report, as_json=as_json)
    return Exit.OK


def wice(path: DataSet, as_json: AsJson = False) -> None:
    """Measure the estimate of support and the choice of evidence on WiCE."""
    run(_wice(path, as_json), as_json=as_json)


async def _wice(path: Path, as_json: bool) -> Exit:
    from research.wice_measurement import run_wice
    from tools.backends.backend_registry import configured_families

    family = configured_families(settings_for())("extractive")
    show_report(await run_wice(family.checker, path), as_json=as_json)
    return Exit.OK


def injection(
    path: Annotated[Path, typer.Option("--path", help="The folder of the attack corpora.", show_default=False)],
    most: Annotated[
        int | None,
        typer.Option("--most", min=1, help="Use at most this many attacks and benign texts.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plant attacks in documents, ask the extractive family and an obedient model, and count what succeeds."""
    run(_injection(path, most, as_json), as_json=as_json)


async def _injection(path: Path, most: int | None, as_json: bool) -> Exit:
    from research.injection import run_injection

    with progress_bar() as progress:
        report = await run_injection(settings_for(), path, most=most, progress=progress)
    show_report(report, as_json=as_json)
    return Exit.OK


def planted(
    path: Annotated[Path, typer.Option("--path", help="The manuals' folder or questions.", show_default=False)],
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", help="The model's endpoint.", show_default="as configured"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="A configured model's name, or one of --base-url.", show_default="default_model"),
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="The data folder to use.", show_default="as configured")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option("--sample", min=1, help="Ask at most this many questions, spread evenly.", show_default=False),
    ] = None,
    plants: Annotated[
        Path | None,
        typer.Option("--plants", help="The sentences to plant, as JSON lines.", show_default="research/data"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plant false sentences in a model's answers about manuals, and count those that are caught."""
    run(_planted(path, base_url, model, data_dir, sample, plants, as_json), as_json=as_json)


async def _planted(
    path: Path,
    base_url: str | None,
    model: str | None,
    data_dir: Path | None,
    sample: int | None,
    plants: Path | None,
    as_json: bool,
) -> Exit:
    from evals.pacing import with_long_pool_timeout
    from evals.sets.manuals import manuals_set
    from research.planted import PLANTS, load_plants, run_planted, writing_model

    settings = with_long_pool_timeout(settings_for())
    if data_dir is not None:
        settings = settings.model_copy(update={"data_dir": data_dir})
    writer = writing_model(settings, model, base_url)
    sentences = load_plants(plants or PLANTS)
    data = manuals_set(path)
    if sample is not None:
        data = data.sample(sample)
    with progress_bar() as progress:
        report = await run_planted(settings, data, writer, sentences, progress=progress)
    show_report(report, as_json=as_json)
    return Exit.OK


def recorded(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port on loopback.")] = 18777,
    replies: Annotated[
        Path | None, typer.Option("--replies", help="The replies, as JSON lines.", show_default="research/data")
    ] = None,
) -> None:
    """Serve the recorded replies of a strong model on loopback, until interrupted."""
    run(_recorded(port, replies), as_json=False)


async def _recorded(port: int, replies: Path | None) -> Exit:
    from research.recorded import REPLIES, load_recorded, serve_recorded

    known = load_recorded(replies or REPLIES)
    progress_console().print(f"{len(known)} replies at http://127.0.0.1:{port}/v1")
    await serve_recorded(known, port)
    return Exit.OK


def small_talk(as_json: AsJson = False) -> None:
    """Measure how well 100 questions are separated from 100 lines of small talk."""
    run(_small_talk(as_json), as_json=as_json)


async def _small_talk(as_json: bool) -> Exit:
    from research.small_talk_measurement import run_small_talk

    show_report(await run_small_talk(), as_json=as_json)
    return Exit.OK


async def _measured(measure: Measure, as_json: bool) -> Exit:
    async with opened(settings_for(), durability="exit") as citewell:
        with progress_bar() as progress:
            report = await measure(citewell, progress)
    show_report(report, as_json=as_json)
    return Exit.OK


if TYPE_CHECKING:
    from research.probe.probing import ProbeReport

MOST = 40


def probe(
    data_set: DataSetName = "golden",
    path: DataSetPath = None,
    model: ModelName = "extractive",
    scripted: Annotated[
        str | None,
        typer.Option(
            "--scripted",
            help="Probe a scripted model instead: honest, cheating, half-cheating, by-position, obeying.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int, typer.Option("--most", min=1, help="Ask at most this many answerable questions, evenly spread.")
    ] = MOST,
    out: Annotated[Path | None, typer.Option("--out", help="The run's folder.", show_default="runs/probe-...")] = None,
    concurrency: Concurrency = 4,
    as_json: AsJson = False,
) -> None:
    """Remove or alter the text that answers cite, and ask again: a citation that makes no difference is decoration.

    Also shuffle segments, swap ids and plant an instruction. The folder holds configuration.json and probe.json.
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
    from evals.pacing import with_long_pool_timeout
    from evals.run_folder import RunFolder, RunOptions, configuration_of
    from evals.sets import load_data_set
    from research.probe.probing import answerable, probe_data_set
    from research.probe.scripted_models import scripted_model

    data = answerable(load_data_set(data_set, path)).sample(most)
    options = RunOptions(model=scripted or model, concurrency=concurrency)
    folder = RunFolder(out or new_run_path("probe", data.name, options.model))
    settings = with_long_pool_timeout(settings_for())
    configuration = configuration_of(data, options, settings)
    async with AsyncExitStack() as stack:
        if scripted is not None:
            settings = await stack.enter_async_context(scripted_model(settings, scripted))
        citewell = await stack.enter_async_context(opened(settings, durability="exit"))
        citewell.library.families(options.model)  # an unknown model is reported before the folder is made
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
        show_failures(f"{len(failed)} runs failed:", list(failed.items()), rest_in="probe.json")


app = typer.Typer(
    name="research",
    help="Measure one part of Citewell at a time.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for measurement in (claims, wice, rgb, injection, repair, planted, recorded, small_talk, probe):
    app.command(measurement.__name__.replace("_", "-"))(measurement)

if __name__ == "__main__":
    run_app(app)
