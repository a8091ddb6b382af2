"""The soak's command: ``python -m bench soak [MINUTES] [RUNS]``; the default is a short one of three minutes.

It ends by itself, and leaves no process and no mount. It returns 1 where a promise was broken.
"""

import asyncio
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bench.libraries import fill_small_library
from bench.paced_model import PacedModel, paced_model
from bench.serving import ROOT
from bench.soak.disturbances import Disturbances
from bench.soak.documents_churn import DocumentsChurn
from bench.soak.log_audit import audit, settle
from bench.soak.programs import crashes, logged
from bench.soak.readers import Readers, reading
from bench.soak.samples import Sampler
from bench.soak.soak_report import Outcome, chart, page
from bench.soak.soaked_service import Deployment, deployed
from tools.concurrency.tasks import cancel_and_wait

MINUTES = 3.0
RUNS_A_MINUTE = 167  # 10,000 in an hour
MOST_IN_FLIGHT = 24
LONGEST = 1.2  # of its minutes, where the machine is too busy for its pace
SEED = 19
QUESTIONS = 40
DOCUMENTS = 25
PAUSE_SECONDS = 15.0
SHORT_PAUSE_SECONDS = 6.0
PROGRESS_SECONDS = 30.0
REPORT = ROOT / "docs" / "soak.md"


def main(arguments: list[str]) -> int:
    """Soak, write the report, and return 1 if a promise was broken."""
    minutes = float(arguments[0]) if arguments else MINUTES
    runs = int(arguments[1]) if len(arguments) > 1 else round(minutes * RUNS_A_MINUTE)
    with tempfile.TemporaryDirectory(prefix="citewell-soak-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # if run as root, the account of the database must be able to enter
        outcome = asyncio.run(_until_signalled(Path(folder), minutes, runs))
    REPORT.write_text(page(outcome), encoding="utf-8")
    REPORT.with_suffix(".svg").write_text(chart(outcome.series).svg(), encoding="utf-8")
    faults = outcome.all_faults()
    print(f"{outcome.audit.runs} runs, {len(faults)} broken promises; see {REPORT.relative_to(ROOT)}")
    for fault in faults:
        print(f"- {fault}")
    return 1 if faults else 0


async def _until_signalled(folder: Path, minutes: float, runs: int) -> Outcome:
    """Soak; SIGTERM ends it as Ctrl-C does, with everything put away."""
    soaking = asyncio.create_task(_soak(folder, minutes, runs))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, soaking.cancel)
    return await soaking


async def _soak(folder: Path, minutes: float, runs: int) -> Outcome:
    async with paced_model() as model, deployed(folder, model.base_url) as deployment:
        questions = await fill_small_library(deployment.settings(folder / "unused"), QUESTIONS, documents=DOCUMENTS)
        urls = [server.url for server in deployment.servers]
        async with reading(urls, questions, SEED) as readers:
            return await _under_load(deployment, readers, model, minutes, runs)


async def _under_load(
    deployment: Deployment, readers: Readers, model: PacedModel, minutes: float, runs: int
) -> Outcome:
    began, sampler, churn = datetime.now(UTC), Sampler(deployment), DocumentsChurn(readers)
    pause = PAUSE_SECONDS if minutes >= 20 else SHORT_PAUSE_SECONDS
    disturbances = Disturbances(deployment, readers, random.Random(SEED), pause)
    beside = [sampler.sample(), churn.churn(), disturbances.go_on(), _forget(model), _progress(readers)]
    tasks = [asyncio.create_task(each) for each in beside]
    started = time.monotonic()
    try:
        await _ask_all(readers, minutes, runs, lambda: _raise_failed(tasks))
    finally:
        await _cancel(tasks[1:])
        disturbances.put_right()
    took = (time.monotonic() - started) / 60
    await deployment.ready()
    faults = [*readers.faults, *await churn.compare()]
    if left := await settle(deployment.database_url):
        faults.append(f"{left} runs have not ended")
    await _cancel(tasks[:1])
    found = await audit(deployment.database_url, readers.read)
    faults += [f"{each.name} {surprise}" for each in deployment.programs for surprise in each.surprises]
    serving = deployment.programs[:3]
    faults += [f"{each.name} crashed: {line[:200]}" for each in serving for line in crashes(each.log)]
    return Outcome(
        began=began,
        minutes=took,
        cores=os.cpu_count() or 0,
        load=os.getloadavg(),
        disk=deployment.disk.kind,
        injected=deployment.database.library is not None,
        counts=readers.counts,
        refusals=readers.refusals,
        seconds=readers.seconds,
        others={
            "documents stored": churn.stored,
            "documents deleted": churn.deleted,
            "starts without a database, tried again": sum(each.refused_starts for each in serving),
        },
        disturbances=disturbances.done,
        series=sampler.series,
        audit=found,
        logged={each.name: logged(each.log, "error", "critical") for each in serving},
        faults=faults,
    )


async def _ask_all(readers: Readers, minutes: float, runs: int, check: Callable[[], None]) -> None:
    """Ask at an even pace, as fast as answers come where that was held up, until all are asked or time is over."""
    began, asked = time.monotonic(), 0
    async with asyncio.TaskGroup() as asking:
        while asked < runs and (spent := (time.monotonic() - began) / (minutes * 60)) < LONGEST:
            while asked < min(spent * runs, runs) and readers.in_flight < MOST_IN_FLIGHT:
                asking.create_task(readers.ask())
                asked += 1
                await asyncio.sleep(0)  # it counts itself
            check()
            await asyncio.sleep(0.05)


def _raise_failed(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done():
            task.result()


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        await cancel_and_wait(task)


async def _forget(model: PacedModel) -> None:
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        model.forget()


async def _progress(readers: Readers) -> None:
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        print(f"{len(readers.read)} runs read, {readers.in_flight} in flight, {readers.faults}", flush=True)
