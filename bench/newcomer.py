"""A newcomer's path, step by step, as the quick start tells it: ``python -m bench.newcomer`` prints minutes and words.

It clones this repository's last commit, runs ``make demo`` in the clone, ingests a folder of its own, asks a first
question, adds a model, and asks for an answer that a judge has proven. ``--endpoint URL`` names a real model server;
the script's own replies at once and knows the exam, so that what is measured is Citewell's part. ``--write`` puts the
table into docs/quickstart.md. It takes some minutes and a package registry, and is not part of the tests.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evals.scripted_endpoint import ModelRequest, Reply, say, scripted_endpoint
from evals.scripted_replies import claims_to_judge, judged, sensible
from tools.judges.exam import built_in_exam

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "quickstart.md"
BEGIN, END = "<!-- newcomer:begin -->", "<!-- newcomer:end -->"
OWN_FILES = {
    "handbook.md": "# Handbook\n\n## Leave\n\nEvery employee gets 25 days of annual leave a year.\n\n## Notice\n\nThe"
    " notice period is three months.\n",
    "travel.md": "# Travel\n\nA hotel may cost 140 euros a night. Receipts are due within 30 days.\n",
    "office.txt": "The office opens at eight. The last one out locks the door and sets the alarm.\n",
}
QUESTION = "How many days of annual leave do I have?"
JUDGED = "What may a hotel cost a night?"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was made: what it is, its command, how long it took and what it printed."""

    what: str
    command: str
    seconds: float
    printed: str

    @property
    def words(self) -> int:
        """How many words there were to read."""
        return len(self.printed.split())


class Newcomer:
    """Somebody with an empty folder, who enters commands one after the other."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = home
        foreign = ("CITEWELL_", "OPENAI_", "PYTHON", "VIRTUAL_ENV")
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        self._environment |= {"CITEWELL_DATA_DIR": str(home / "data"), "COLUMNS": "100"}
        self.steps: list[Step] = []

    def enter(self, folder: Path) -> None:
        """Change the folder in which commands are entered, and find those of its environment first."""
        self._folder = folder
        self._environment["PATH"] = f"{folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"

    async def run(self, what: str, *command: str, shown: str = "") -> None:
        """Run a command to its end. Raises SystemExit with what it printed where it fails."""
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self._folder,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate()
        step = Step(what, shown or " ".join(command), time.monotonic() - began, out.decode(errors="replace"))
        print(f"$ {step.command}\n{step.printed}\n[{step.seconds:.1f} s, {step.words} words]\n", flush=True)
        if process.returncode:
            raise SystemExit(f"It ended with {process.returncode}.")
        self.steps.append(step)


async def walk(home: Path, endpoint: str | None) -> list[Step]:
    """Go the whole path in an empty folder; return its steps. Raises SystemExit where one fails."""
    async with scripted_endpoint(knowing) as scripted:
        return await _walk(home, endpoint or scripted.base_url)


async def _walk(home: Path, endpoint: str) -> list[Step]:
    newcomer, clone = Newcomer(home), home / "citewell"
    await newcomer.run("Clone", "git", "clone", "--quiet", str(ROOT), str(clone), shown="git clone …")
    newcomer.enter(clone)
    await newcomer.run("See it", "make", "demo", f"PYTHON={sys.executable}", shown="make demo")
    await asyncio.to_thread(_write_files, clone / "own")
    await newcomer.run("Your own folder", "citewell", "ingest", "own/")
    await newcomer.run("A first answer", "citewell", "ask", QUESTION, shown=f'citewell ask "{QUESTION}"')
    added = ("citewell", "model", "add", "--endpoint", endpoint, "--yes", "--ask", JUDGED)
    await newcomer.run("A model, its exam, a judged answer", *added, shown=f'citewell model add --yes --ask "{JUDGED}"')
    return newcomer.steps


def _write_files(folder: Path) -> None:
    folder.mkdir()
    for name, text in OWN_FILES.items():
        (folder / name).write_text(text, encoding="utf-8")


def as_table(steps: list[Step], *, model: str) -> str:
    """Return the steps as a table, with their sums and the day."""
    rows = [f"| {each.what} | `{each.command}` | {each.seconds / 60:.1f} | {each.words} |" for each in steps]
    minutes, words = sum(each.seconds for each in steps) / 60, sum(each.words for each in steps)
    read = len(re.sub(r"```.*?```", "", PAGE.read_text("utf-8").split(BEGIN)[0], flags=re.DOTALL).split())
    return "\n".join(
        [
            "| Step | Command | Minutes | Words printed |",
            "|---|---|---:|---:|",
            *rows,
            f"| all | {len(steps)} commands | {minutes:.1f} | {words} |",
            "",
            f"`python -m bench.newcomer` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} processors, {model}. This"
            f" page has {read} words above the table.",
        ]
    )


def knowing(request: ModelRequest) -> Reply:
    """Reply with the label of a claim of the exam, and sensibly to anything else."""
    labels = {claim.claim.claim: claim.supported for claim in built_in_exam().claims}
    claims = claims_to_judge(request)
    if not claims:
        return say(sensible(request))
    verdicts = {n: judged("supported" if labels.get(claim, True) else "unsupported") for n, claim in claims.items()}
    return say(json.dumps(verdicts))


def main() -> None:
    """Walk, and print or write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.newcomer", description=__doc__.split("\n")[0])
    parser.add_argument("--endpoint", help="a model server; a scripted one without it")
    parser.add_argument("--write", action="store_true", help="put the table into docs/quickstart.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="citewell-newcomer-") as folder:
        home = Path(folder)
        home.chmod(0o711)  # as root, the server's own account passes through
        steps = asyncio.run(walk(home, options.endpoint))
    table = as_table(steps, model="a model server" if options.endpoint else "a scripted model that replies at once")
    print(table)
    if options.write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
