"""Benchmark of searching real passages within a budget: how many of the ten best by exact BM25 are found.

All data sets of the folder that CITEWELL_BENCH_DATA names are one library. Their questions are asked of it, and two to
four of its common words, with the ordinary budget and with a smaller one, to which it is as large as a library of a
hundred thousand and more is to the ordinary one. A budget is named by what a library of this size gets of it. Beside
them stands what releases before impact keys did.
"""

import os
from pathlib import Path

from bench.common_bench import RECALL, measure, values_of
from bench.figures import Figure, NotAvailable, compared, figure
from bench.real_library import DATA, ingest_all, made_questions
from graph.evidence import Identity
from tools.process.library import open_library
from tools.retrieval.common_terms import budget_for
from tools.retrieval.scope import CANDIDATES
from tools.settings import Settings
from tools.storage.partitions import partition_name

BUDGETS = (1_000, CANDIDATES)
LEAST_RECALL = 0.98
MOST_ROWS = "rows, most"


async def run(folder: Path) -> list[Figure]:
    """Ingest all sets into one workspace and ask each class of questions. Raises NotAvailable without the data."""
    data = os.environ.get(DATA)
    if data is None:
        raise NotAvailable(f"no data: {DATA} has to name a folder of data sets")
    async with open_library(Settings(data_dir=folder, database_url=None)) as library:
        await library.workspaces.ensure("real")
        asked = await ingest_all(library, Identity(workspace="real"), Path(data))
        library.workspaces.forget("real")  # which has grown out of the shared tables
        place = await library.workspaces.place("real")
        async with library.database.connection() as conn:
            rows = await (await conn.execute(f"SELECT body FROM {partition_name(place.workspace)}".encode())).fetchall()
            bodies, figures = [row[0] for row in rows], []
            for budget in BUDGETS:
                left = budget_for(len(bodies), budget)
                where = f"budget {left:,} of {len(bodies):,} real passages"
                for kind, questions in (asked | made_questions(bodies, left)).items():
                    found = values_of(await measure(conn, place, questions, budget=budget))
                    before = values_of(await measure(conn, place, questions, budget=budget, budgeted=False))
                    for name, least in ((RECALL, LEAST_RECALL), (MOST_ROWS, None)):
                        value = figure(f"{where}, {kind}: {name}", found[name], "", at_least=least)
                        figures.append(compared(value, {"as before": before[name]}, rival=None, more=name == RECALL))
    return figures
