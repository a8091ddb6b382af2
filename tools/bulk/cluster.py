"""A cluster of Ray: one on this machine that lives as long as a command, or one that runs elsewhere.

Ray is imported only when something runs on it. A local one listens on loopback alone and asks for a token that no other
process knows; without that, whoever reaches its ports runs code as this user.
"""

import asyncio
import logging
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from graph.errors import CitewellError, ConfigurationError, DependencyFailed
from tools.settings import Settings
from tools.storage.database import Database

log = logging.getLogger("citewell.bulk")

OBJECT_STORE_MEGABYTES = 256  # of a local Ray: sixteen blocks between the stages
BLOCK_BYTES = 16_000_000  # of rows that go from one stage to the next; a larger row is a block of its own
FOLDERS = "citewell-ray-"  # of local clusters, with the process that made them
SILENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
START_SECONDS = "120"  # that a local cluster may take: Ray itself gives up while a busy machine still starts it
# Ray's name for "only loopback": on Linux, too, it is what decides about the address of a node.
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token"}

Dataset = Any  # of ray.data, which is not there without the extra
Rows = dict[str, Any]  # a column by its name


class Cluster:
    """An open cluster. Its calls block, so they have a thread of their own, in which Ray sets no signal handlers."""

    def __init__(self, tasks: int, *, is_local: bool) -> None:
        self.tasks = tasks
        self.is_local = is_local
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="citewell-ray")

    async def open(self, address: str, folder: Path | None) -> None:
        """Start a local cluster in a folder, or connect to the one at an address.

        Raises ConfigurationError where Ray is not installed, DependencyFailed where the cluster can't be reached.
        """
        await self._call(lambda: _init(address, self.tasks, folder))

    async def refuse_too_small(self, cpus: float) -> None:
        """Raise ConfigurationError where the cluster has fewer processors: Ray would wait for them without a word."""
        has = float((await self._call(lambda: _imported().cluster_resources())).get("CPU", 0))
        if has < cpus:
            raise ConfigurationError(
                f"The cluster has {has:g} processors; {self.tasks} tasks, with what stores for them, need {cpus:g}.",
                suggestion="Lower --tasks, or add nodes.",
            )

    async def run(
        self, build: Callable[[], Dataset], on_progress: Callable[[Rows], object] = lambda rows: None
    ) -> None:
        """Run a data set to its end; ``on_progress`` gets its rows in a thread. Cancelling the caller ends the work.

        Raises the CitewellError of a stage, DependencyFailed where Ray fails.
        """
        running = asyncio.ensure_future(self._call(lambda: _consume(build(), on_progress)))
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.to_thread(_shutdown)
            await asyncio.wait([running])
            raise

    async def close(self) -> None:
        """End a local cluster, or leave the one elsewhere, with what still runs there for this process."""
        await asyncio.to_thread(_shutdown)
        self._thread.shutdown(wait=False)

    async def _call(self, work: Callable[[], Any]) -> Any:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except (CitewellError, asyncio.CancelledError):
            raise
        except Exception as error:
            raise _as_ours(error) from error


@asynccontextmanager
async def opened_cluster(tasks: int | None = None) -> AsyncIterator[Cluster]:
    """Open the cluster of RAY_ADDRESS, or one on this machine; end or leave it on exit.

    It does so many tasks at once, or as many as this machine has processors. Meanwhile stdout is stderr: Ray prints
    there. Raises ConfigurationError where Ray is not installed, DependencyFailed where the cluster can't be reached.
    """
    address = cluster_address()
    is_local = not address
    cluster = Cluster(tasks or os.cpu_count() or 1, is_local=is_local)
    folder = await asyncio.to_thread(_folder) if is_local else None
    try:
        with redirect_stdout(sys.stderr):
            await cluster.open(address, folder)
            yield cluster
    finally:
        await cluster.close()
        if folder is not None:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def cluster_address() -> str:
    """Return where the cluster is, as Ray's own variable RAY_ADDRESS says: ``host:6379``, ``auto``, or "" for none.

    Raises ConfigurationError for an address of Ray's client.
    """
    address = os.environ.get("RAY_ADDRESS", "")
    if address.startswith("ray://"):
        raise ConfigurationError(
            "RAY_ADDRESS: Ray's client is not supported.",
            suggestion="Name the head as host:6379, and run the command beside it.",
        )
    return "" if address == "local" else address


def _init(address: str, tasks: int, folder: Path | None) -> None:
    os.environ.update(SILENT)
    if folder is not None:
        os.environ.update(LOOPBACK)
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        os.environ.setdefault("RAY_gcs_server_port_wait_time_s", START_SECONDS)
    ray = _imported()
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
    if folder is None:
        ray.init(address=address, **quiet)
    else:
        ray.init(
            address="local",
            num_cpus=tasks + 1,
            object_store_memory=OBJECT_STORE_MEGABYTES << 20,
            include_dashboard=False,
            _temp_dir=str(folder),
            **quiet,
        )
    logging.getLogger("ray.data").setLevel(logging.CRITICAL + 1)  # what fails is raised, too
    context = ray.data.DataContext.get_current()
    context.target_max_block_size = BLOCK_BYTES
    context.enable_progress_bars = False
    context.raise_original_map_exception = True


def _imported() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ConfigurationError(
            "`--on ray` needs the package ray with its data sets.", suggestion="Install citewell[ray]."
        ) from error
    return ray


def _shutdown() -> None:
    if (ray := sys.modules.get("ray")) is not None and ray.is_initialized():
        ray.shutdown()


def _consume(found: Dataset, on_progress: Callable[[Rows], object]) -> None:
    for rows in found.iter_batches(batch_size=None, prefetch_batches=0):
        on_progress(rows)


def _as_ours(error: BaseException) -> CitewellError:
    """Return the error of ours that Ray wraps, or one that says that Ray failed."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, CitewellError):
            return inner
        inner = getattr(inner, "cause", None) or inner.__cause__
    first = next(iter(str(error).strip().splitlines()), "")
    return DependencyFailed(
        f"Ray failed: {type(error).__name__}: {first[:300]}",
        suggestion="Run the command again: it goes on where it was. If it fails again, look into the logs of Ray.",
    )


def _folder() -> Path:
    """Make the folder of a local cluster, with a short path for its sockets, and remove those of dead processes."""
    place = Path(tempfile.gettempdir())
    for left in place.glob(f"{FOLDERS}*"):
        number = left.name.removeprefix(FOLDERS).partition("-")[0]
        if number.isdecimal() and not _is_alive(int(number)):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{FOLDERS}{os.getpid()}-", dir=place))


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def settings_on_nodes(settings: Settings, database: Database) -> Settings:
    """Return the settings with which the tasks open the same database. Raises ConfigurationError."""
    if cluster_address() and settings.database_url is None:
        raise ConfigurationError(
            "The nodes of a cluster can't reach the database in this machine's data folder.",
            suggestion="Set CITEWELL_DATABASE_URL to a server that they reach, or leave RAY_ADDRESS empty.",
        )
    return settings.model_copy(update={"database_url": SecretStr(database.url)})
