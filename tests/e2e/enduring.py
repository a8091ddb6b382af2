"""A deployment of several servers and workers over a primary and its standby, restarted and failed over under load."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from bench.libraries import fill_small_library
from bench.paced_model import PACED, paced_model
from tests.e2e.deployment import Deployment, deployed, settings_over
from tests.e2e.resuming_clients import Audit, Clients, audit, clients_of, unfinished_jobs
from tests.postgres.database_pair import DatabasePair, database_pair
from tools.concurrency.tasks import cancel_and_wait
from tools.settings import ReplicaSettings, Settings
from tools.storage.startup import migrate

QUESTIONS = 12
WRITERS = 2
FILES_OF_A_JOB = 5
SETTLE_SECONDS = 120.0


@dataclass(slots=True)
class Endured:
    """What a deployment went through: ``retried`` are the requests that clients had to repeat, by phase."""

    clients: Clients
    found: Audit
    wrong_jobs: list[str]
    retried: dict[str, int] = field(default_factory=dict)
    no_writes: float = 0.0  # seconds from the stop of the primary to the first write that was acknowledged
    after_promotion: float = 0.0  # of these, from the end of the promotion on
    logs: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether nothing was lost, doubled, stale or refused for good."""
        clients = self.clients
        return not (self.found.faults or self.found.failed or self.wrong_jobs or clients.refused or clients.stale)


async def endure(
    folder: Path, *, askers: int, calm_seconds: float, rest_seconds: float = 0.0, more: str = ""
) -> Endured:
    """Restart every process of a deployment under load, then fail its database over and bring the old primary back.

    ``rest_seconds`` pass between an answer and the same client's next request: with none, clients take all they get.
    """
    async with database_pair(folder, synchronous=True, more=more) as pair, paced_model() as model:
        questions = await _filled(pair, folder)
        models = [{"name": PACED, "base_url": model.base_url, "model": PACED}]
        settings = settings_over(pair.url("read-write"), pair.url("standby"), models)
        async with deployed(folder, settings) as deployment, clients_of(deployment.url) as clients:
            endured = Endured(clients, Audit(0, 0, 0, 0, 0, 0, 0), [])
            async with _load(clients, questions, askers, rest_seconds):
                await asyncio.sleep(calm_seconds)
                endured.retried["calm"] = clients.retried.total()
                await deployment.restart_all()
                endured.retried["rolling restart"] = clients.retried.total() - sum(endured.retried.values())
                await _fail_over(pair, deployment, endured)
                await asyncio.sleep(calm_seconds)
            endured.retried["failover"] = clients.retried.total() - sum(endured.retried.values())
            endured.wrong_jobs = await unfinished_jobs(clients)
            endured.found = await audit(pair.url("read-write"), clients)
            endured.logs = "".join(member.log for member in (*deployment.servers, *deployment.workers))
    return endured


async def _filled(pair: DatabasePair, folder: Path) -> list[str]:
    settings = Settings(
        _env_file=None,  # type: ignore[call-arg]
        database_url=SecretStr(pair.url("read-write")),
        data_dir=folder,
        replica=ReplicaSettings(),
    )
    await migrate(settings)
    return await fill_small_library(settings, QUESTIONS)


@asynccontextmanager
async def _load(clients: Clients, questions: Sequence[str], askers: int, rest_seconds: float) -> AsyncIterator[None]:
    """Ask, store, search and delete until the context exits; what has been begun is ended."""
    over = asyncio.Event()

    async def keep_asking(first: int) -> None:
        place = first
        while not over.is_set():
            await clients.ask(questions[place % len(questions)])
            place += askers
            await asyncio.sleep(rest_seconds)

    async def keep_writing(writer: int) -> None:
        number = 0
        while not over.is_set():
            word = f"windlass{writer}x{number}"
            document_id = await clients.store(word)
            if number % 2 and document_id in clients.documents:
                await clients.delete(word, document_id)
            if number % 5 == 0:
                await clients.submit([f"bollard{writer}x{number}x{each}" for each in range(FILES_OF_A_JOB)])
            number += 1
            await asyncio.sleep(rest_seconds)

    tasks = [asyncio.create_task(keep_asking(n)) for n in range(askers)]
    tasks += [asyncio.create_task(keep_writing(n)) for n in range(WRITERS)]
    try:
        yield
        over.set()
        async with asyncio.timeout(SETTLE_SECONDS):
            await asyncio.gather(*tasks)
    finally:
        await cancel_and_wait(*tasks)


async def _fail_over(pair: DatabasePair, deployment: Deployment, endured: Endured) -> None:
    stopped = time.monotonic()
    await pair.stop_primary()
    await pair.promote()
    promoted = time.monotonic()
    async with asyncio.timeout(SETTLE_SECONDS):
        while not (after := [acked for sent, acked in endured.clients.writes if sent > stopped]):  # noqa: ASYNC110 - clients add to it
            await asyncio.sleep(0.05)
    endured.no_writes, endured.after_promotion = min(after) - stopped, min(after) - promoted
    await pair.rejoin()
    await deployment.balancer.all_ready()
