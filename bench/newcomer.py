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
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from evals.scripted_endpoint import ModelRequest, Reply, say, scripted_endpoint
from evals.scripted_replies import claims_to_judge, judged, sensible
from tools.judges.exam import built_in_exam

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "quickstart.md"
BEGIN, END = "<!-- newcomer:begin -->", "<!-- newcomer:end -->"
HANDBOOK = "# Handbook\n\n## Leave\n\nEvery employee gets 25 days of annual leave a year.\n"
QUESTION = "How many days of annual leave do I have?"
Row = tuple[str, str, float, int]  # a step, its command, the seconds it took, the words it printed


async def walk(home: Path, endpoint: str | None) -> list[Row]:
    """Go the whole path in an empty folder; return its steps. Raises SystemExit where one fails."""
    clone, rows = home / "citewell", list[Row]()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("CITEWELL_", "PYTHON"))}
    path = f"{clone / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**inherited, "PATH": path, "CITEWELL_DATA_DIR": str(home / "data"), "COLUMNS": "100"}
    async with scripted_endpoint(knowing) as scripted:
        for what, shown, command in (
            ("Clone", "git clone …", ("git", "clone", "--quiet", str(ROOT), str(clone))),
            ("See it", "make demo", ("make", "demo", f"PYTHON={sys.executable}")),
            ("Your own folder", "citewell ingest own/", ("citewell", "ingest", str(home / "own"))),
            ("A first answer", f'citewell ask "{QUESTION}"', ("citewell", "ask", QUESTION)),
            (
                "A model, its exam, a judged answer",
                f'citewell model add --yes --ask "{QUESTION}"',
                ("citewell", "model", "add", "--endpoint", endpoint or scripted.base_url, "--yes", "--ask", QUESTION),
            ),
        ):
            began = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=clone if rows else home,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            printed = (await process.communicate())[0].decode(errors="replace")
            rows.append((what, shown, time.monotonic() - began, len(printed.split())))
            print(f"$ {shown}\n{printed}", flush=True)
            if process.returncode:
                raise SystemExit(f"It ended with {process.returncode}.")
    return rows


def knowing(request: ModelRequest) -> Reply:
    """Reply with the labels of claims of the exam, and sensibly to anything else."""
    labels = {claim.claim.claim: claim.supported for claim in built_in_exam().claims}
    claims = claims_to_judge(request)
    verdicts = {n: judged("supported" if labels.get(claim, True) else "unsupported") for n, claim in claims.items()}
    return say(json.dumps(verdicts) if claims else sensible(request))


def main() -> None:
    """Walk, and print or write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.newcomer", description=__doc__.split("\n")[0])
    parser.add_argument("--endpoint", help="a model server; a scripted one without it")
    parser.add_argument("--write", action="store_true", help="put the table into docs/quickstart.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="citewell-newcomer-") as folder:
        home = Path(folder)
        home.chmod(0o711)  # as root, the server's own account passes through
        (home / "own").mkdir()
        (home / "own" / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
        rows = asyncio.run(walk(home, options.endpoint))
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    rows.append(("all", "", sum(row[2] for row in rows), sum(row[3] for row in rows)))
    model = "a model server" if options.endpoint else "a scripted model that replies at once"
    lines = ["| Step | Command | Minutes | Words printed |", "|---|---|---:|---:|"]
    lines += [
        f"| {what} | {f'`{shown}`' if shown else ''} | {s / 60:.1f} | {words} |" for what, shown, s, words in rows
    ]
    lines += ["", f"`python -m bench.newcomer` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} processors, {model}."]
    lines += [f"This page has {len(before.split())} words above the table."]
    print("\n".join(lines))
    if options.write:
        PAGE.write_text("\n".join([f"{before}{BEGIN}", *lines, END + rest.partition(END)[2]]), "utf-8")


if __name__ == "__main__":
    main()
