"""Benchmark of reading a long session: a hundred messages, each citation checked against the current documents."""

import json
import time
from pathlib import Path

from bench.figures import Figure, figure, percentile
from bench.libraries import fill_small_library
from bench.serving import cpu_of, postgres_of
from bench.sse_client import Connection
from bench.stacks import OURS, serving
from tools.settings import load_settings

MESSAGES = 100
READS = 100
KIBIBYTE = 1024


async def run(folder: Path) -> list[Figure]:
    """Ask fifty questions in one session, and read it a hundred times."""
    data = folder / "data"
    questions = await fill_small_library(load_settings(data_dir=data), MESSAGES // 2)
    async with serving(OURS, folder, data) as server:
        connection = await Connection.open(server.url)
        path = await OURS.conversation(connection)
        for question in questions:
            await OURS.ask(connection, path, question)
        whole = f"{path.removesuffix('/runs')}?limit={MESSAGES}"
        began = time.perf_counter()
        body = await connection.get(whole)
        first = (time.perf_counter() - began) * 1000
        postgres = postgres_of(data)
        cpu, stored = server.cpu(), cpu_of(postgres)
        took = []
        for _ in range(READS):
            began = time.perf_counter()
            await connection.get(whole)
            took.append((time.perf_counter() - began) * 1000)
        cpu, stored = [each * 1000 / READS for each in (server.cpu() - cpu, cpu_of(postgres) - stored)]
        connection.close()
    messages = json.loads(body)["messages"]
    citations = [citation for message in messages for citation in message.get("citations") or []]
    return [
        figure("messages", len(messages), ""),
        figure("citations", len(citations), ""),
        figure("of them fresh", sum(citation.get("freshness") == "fresh" for citation in citations), ""),
        figure("size", len(body) / KIBIBYTE, "KiB"),
        figure("read p50", percentile(took, 0.5), "ms"),
        figure("read p95", percentile(took, 0.95), "ms", at_most=10),
        figure("CPU of the service per read", cpu, "ms"),
        figure("CPU of PostgreSQL per read", stored, "ms"),
        figure("first read, whose answers are in no memory", first, "ms"),
    ]
