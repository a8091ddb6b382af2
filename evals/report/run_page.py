"""A run's report: one page with its figures, distributions, failures and configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from evals.error_analysis import is_right
from evals.metrics.faithfulness_metrics import headline
from evals.records import Record, record_key
from evals.report.charts import distributions, outcomes, spending
from evals.report.html_markup import Markup, counted, document, element, folded, joined, navigation, section
from evals.report.report_failures import failures
from evals.report.report_figures import (
    Baseline,
    by_tags,
    committed_baseline,
    measures,
    ragas_scores,
    reliability,
    tiles,
)
from evals.run_folder import Configuration, RunFolder


@dataclass(frozen=True)
class Run:
    """The data of a run's report.

    ``metrics`` is the content of ``metrics.json``, ``ragas`` that of ``ragas.json``, where there is one; ``ended`` has
    a time zone.
    """

    name: str
    configuration: Configuration
    records: Sequence[Record]
    metrics: Mapping[str, Any]
    ended: datetime
    ragas: Mapping[str, Any] | None = None


def read_run(folder: RunFolder) -> Run:
    """Read a run from its folder. Raises InvalidRequest if it holds none, or one without figures."""
    return Run(
        name=folder.name,
        configuration=folder.configuration(),
        records=sorted(folder.records(), key=record_key),
        metrics=folder.metrics(),
        ended=folder.ended(),
        ragas=folder.ragas(),
    )


def write_report(folder: RunFolder, baseline: Baseline | None = None) -> None:
    """Write ``report.html`` of a run that has its figures.

    The default baseline is the gate's, if it has one for this kind of run. Raises InvalidRequest as ``read_run`` does.
    """
    run = read_run(folder)
    chosen = committed_baseline(run.configuration) if baseline is None else baseline
    folder.report.write_text(report_page(run, chosen), encoding="utf-8")


def report_page(run: Run, baseline: Baseline | None = None) -> str:
    """Return a run's report as one self-contained HTML page."""
    parts = list(_parts(run, baseline))
    links = {part.id_: part.title for part in parts}
    title = f"{run.configuration['data']['name']}, {run.configuration['options']['model']}"
    header = _header(title, run, baseline, navigation(links))
    main = element("main", *(section(part.title, *part.content, id_=part.id_, lead=part.lead) for part in parts))
    return document(f"{title}: evaluation", header, main, _footer(run))


class _Part(NamedTuple):
    id_: str
    title: str
    content: Sequence[Markup | None]
    lead: str | None = None


def _parts(run: Run, baseline: Baseline | None) -> Iterator[_Part]:
    figures, tags = run.metrics["all"], run.metrics["by"]
    yield _Part("key-figures", "Key figures", [tiles(figures, baseline), outcomes(run.records)])
    lead = "Bars are means; the line on a bar is the 95% interval of a bootstrap over questions."
    yield _Part("measures", "All measures", measures(figures, baseline), lead)
    if tags:
        yield _Part("tags", f"By {' and '.join(tags)}", by_tags(tags))
    if calibration := run.metrics.get("calibration"):
        lead = "The chance of answering that answers stated, beside the share of them that was right."
        yield _Part("calibration", "Calibration", [reliability(calibration)], lead)
    if run.ragas is not None:
        lead = "Scores by another library, whose means leave out the questions that a metric does not apply to."
        yield _Part("ragas", "Scores by ragas", [ragas_scores(run.ragas)], lead)
    yield _Part("distributions", "Distributions", [distributions(run.records), spending(run.records)])
    lead = "Each question is listed under its most severe error; open it to see the answer, quotes and evidence."
    yield _Part("failures", "What went wrong", [failures(run.records)], lead)
    yield _Part("settings", "Configuration", [_settings(run.configuration)])


def _header(title: str, run: Run, baseline: Baseline | None, links: Markup) -> Markup:
    count, documents = len(run.records), run.configuration["data"]["documents"]
    removed = sum(1 for record in run.records if record["variant"] == "removed")
    right = sum(1 for record in run.records if is_right(record))
    faithfulness = headline(run.metrics["faithfulness"], run.metrics["all"].get("citation_faithfulness"))
    again = f", {removed:,} of them without the documents that they need" if removed else ""
    return element(
        "header",
        element("h1", title),
        element(
            "p",
            f"{counted(count, 'question')} asked of {counted(documents, 'document')}{again}. {right:,} right. "
            f"Ended on {run.ended:%d %B %Y at %H:%M %Z}.",
            class_="meta",
        ),
        element("p", faithfulness, class_="meta"),
        None
        if baseline is None
        else element("p", element("span", class_="key"), f"marks the baseline: {baseline.name}.", class_="meta"),
        links,
    )


def _settings(configuration: Mapping[str, Any]) -> Markup:
    """Show a run's configuration, each part folded."""
    return joined(folded(part.capitalize(), _listed(values), class_="more") for part, values in configuration.items())


def _listed(values: Mapping[str, Any]) -> Markup:
    entries = [
        part
        for name, value in _flat(values)
        for part in (element("dt", element("code", name)), element("dd", element("code", value)))
    ]
    return element("dl", *entries, class_="settings")


def _flat(values: Mapping[str, Any], of: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        found += _flat(value, f"{of}{name}.") if isinstance(value, Mapping) else [(of + name, str(value))]
    return found


def _footer(run: Run) -> Markup:
    version = run.configuration["versions"].get("citewell", "")
    return element(
        "footer",
        element("p", f"Citewell {version}. Generated from results.jsonl in the folder {run.name}."),
    )
