"""Parts of the gate's sets through the real graph: no worse than the baseline, and worse with each fault."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import pytest
from pydantic import SecretStr

from evals.dataset_store import StoredDataSet, stored_data_set
from evals.gate.gate_judging import Threshold, judge, load_thresholds
from evals.gate.gate_run import MANUALS, SCRIPTED, gate_library
from evals.gate.injected_faults import FAULTS, Fault
from evals.gate_baseline import load_baseline, observed
from evals.recorder import Recorder
from evals.run_folder import RunOptions
from graph.entrypoint import open_runner
from graph.evidence import Identity
from tests.conftest import NO_FILE, QUICKLY
from tests.gate_data import gate_data
from tools.process.library import Library
from tools.settings import EXTRACTIVE, Settings

BASELINE = load_baseline()
# What bounds a whole run says nothing of a part of it: a part is held to what the same questions gave before.
UNBOUND = {run: dict.fromkeys(kept, Threshold()) for run, kept in load_thresholds().items()}

NEAR = {"vi-046", "zh-033", "zh-034"}  # refused though a search brings something; of others there is nothing to grade


def asked_once(run: str, measure: str, *, least: float) -> list[str]:
    """Name questions with such observations in the baseline, those with the most of them first.

    Those that a whole run asks a second time, without their evidence, are left out: here they would be asked only once.
    """
    known = BASELINE[run][measure]
    names = [case.case_id for case in gate_data().of_run(run).cases if run != EXTRACTIVE or not case.removal]
    found = [name for name in names if known.get(name, [[]])[0] and min(known[name][0]) >= least]
    return sorted(found, key=lambda name: -len(known[name][0]))


@cache
def chosen() -> Mapping[str, list[str]]:
    """Name the questions that are asked here, by what a right answer to them is."""
    recalled = asked_once(EXTRACTIVE, "citation_recall", least=0.5)
    answered = [name for name in asked_once(EXTRACTIVE, "first_claims_supported", least=1.0) if name in recalled]
    return {
        "answered": answered[:6],
        "refused": [name for name in asked_once(EXTRACTIVE, "refused_when_not", least=1.0) if name in NEAR],
        "right": asked_once(MANUALS, "right", least=1.0)[:5],
        "caught": asked_once(SCRIPTED, "caught_wrong_number", least=1.0)[:6],
    }


# By which measure each fault is told, and of which questions.
TOLD = {
    "dropped_citations": (EXTRACTIVE, "answered", "passage_gold_at_1"),
    "swapped_citations": (EXTRACTIVE, "answered", "claims_in_own_quotes"),
    "shifted_citations": (EXTRACTIVE, "answered", "whole_quotes"),
    "stale_offsets": (EXTRACTIVE, "answered", "quote_exactness"),
    "always_abstaining": (EXTRACTIVE, "answered", "answered_when_answerable"),
    "always_answering": (EXTRACTIVE, "refused", "refused_when_not"),
    "always_supported": (SCRIPTED, "caught", "wrong_proven"),
    "fuzzy_matching": (SCRIPTED, "caught", "wrong_proven"),
}


@dataclass(frozen=True)
class Stored:
    """The gate's sets in a library, by run, to be asked with a fault in the graph or without."""

    library: Library
    by_run: Mapping[str, tuple[StoredDataSet, Identity]]

    async def worse(self, run: str, names: Iterable[str], fault: Fault | None = None) -> set[str]:
        """Ask some questions, and name the measures that are worse than in the baseline."""
        wanted = set(names)
        resources = self.library.resources if fault is None else fault(self.library.resources)
        async with open_runner(self.library, self.library.settings, durability="exit", resources=resources) as citewell:
            model = SCRIPTED if run == SCRIPTED else EXTRACTIVE
            data, identity = self.by_run[run]
            recorder = Recorder(citewell, data, RunOptions(model=model).context(identity))
            records = [await recorder.ask(case) for case in gate_data().of_run(run).cases if case.case_id in wanted]
        metrics = gate_data().metrics()
        measured = {name: observed(metrics[name], records) for name in UNBOUND[run]}
        judged = judge(run, metrics, measured, UNBOUND[run], BASELINE[run])
        return {judgement.metric.name for judgement in judged if judgement.faults}


@pytest.fixture(scope="module")
async def stored(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stored]:
    settings = Settings(
        **NO_FILE,
        database_url=SecretStr(shared_database_url),
        data_dir=tmp_path_factory.mktemp("data"),
        pool_size=4,
        runs=QUICKLY,
    )
    async with (
        gate_library(settings, gate_data()) as library,
        stored_data_set(library, gate_data().golden) as golden,
        stored_data_set(library, gate_data().manuals) as manuals,
    ):
        yield Stored(library, {EXTRACTIVE: golden, SCRIPTED: golden, MANUALS: manuals})


@pytest.mark.parametrize(
    ("run", "kinds"), [(EXTRACTIVE, ["answered", "refused"]), (SCRIPTED, ["caught"]), (MANUALS, ["right"])]
)
async def test_nothing_is_worse_than_the_baseline_as_it_is(stored: Stored, run: str, kinds: list[str]) -> None:
    names = [name for kind in kinds for name in chosen()[kind]]
    assert len(names) >= 5
    assert await stored.worse(run, names) == set()


@pytest.mark.parametrize("name", FAULTS)
async def test_each_fault_is_told_by_what_it_breaks(stored: Stored, name: str) -> None:
    run, kind, measure = TOLD[name]
    assert measure in await stored.worse(run, chosen()[kind], FAULTS[name])


@pytest.mark.parametrize("name", ["swapped_citations", "always_abstaining"])
async def test_manuals_tell_a_fault_by_the_answers_that_are_right_no_more(stored: Stored, name: str) -> None:
    assert {"right", "passage_gold_at_1"} <= await stored.worse(MANUALS, chosen()["right"], FAULTS[name])
