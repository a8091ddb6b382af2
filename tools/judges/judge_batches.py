"""What all judges share: requests in flight, failures of some of them, texts fit to send, and versions."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from graph.errors import BudgetExhausted, DependencyFailed
from graph.ports import CitedEntry, Judgement, OpenClaim
from graph.reasons import Reason
from text.normal_forms import without_invisible, without_surrogates
from tools.llm.prompting import estimate_tokens

IN_FLIGHT = 4
JUDGE_SECONDS = 30.0  # of silence, or for a request to a classifier; then its claims stay unverified
NOTHING_CITED = Reason("nothing_cited")
TOO_LONG = Reason("too_long")

CLAIM_TOKENS = 600

Asked = TypeVar("Asked")
Batch = Sequence[tuple[int, Asked]]  # the position of each claim, and what is asked about it


def worth_asking(claims: Sequence[OpenClaim], *, longest: int | None = None) -> tuple[Batch[OpenClaim], dict[int, str]]:
    """Return the claims to ask about, and why not about the others: without an entry, or of more tokens than that."""
    asked: list[tuple[int, OpenClaim]] = []
    skipped: dict[int, str] = {}
    for index, claim in enumerate(claims):
        if not (plain_text(claim.claim) and any(plain_text(entry.text) for entry in claim.entries)):
            skipped[index] = NOTHING_CITED
        elif longest is not None and estimate_tokens(claim.claim) > longest:
            skipped[index] = TOO_LONG
        else:
            asked.append((index, claim))
    return asked, skipped


async def judge_batches(
    count: int,
    batches: Sequence[Batch[Asked]],
    ask: Callable[[Sequence[Asked]], Awaitable[Sequence[Judgement]]],
    skipped: Mapping[int, str],
) -> list[Judgement]:
    """Ask about every batch, at most four at a time, and return a Judgement for each of ``count`` claims, in order.

    Claims of a batch that fails have none, with the failure as the reason; ``skipped`` are the reasons of claims in no
    batch. Raises the first failure where every batch fails.
    """
    judgements = [Judgement(None, reason=skipped.get(index, "")) for index in range(count)]
    gate = asyncio.Semaphore(IN_FLIGHT)
    failures: list[DependencyFailed | BudgetExhausted] = []

    async def ask_one(batch: Batch[Asked]) -> None:
        async with gate:
            try:
                given = await ask([each for _, each in batch])
            except (DependencyFailed, BudgetExhausted) as error:
                failures.append(error)
                given = [Judgement(None, reason=error.message)] * len(batch)
        for (index, _), judgement in zip(batch, given, strict=True):
            judgements[index] = judgement

    await asyncio.gather(*map(ask_one, batches))
    if batches and len(failures) == len(batches):
        raise failures[0]
    return judgements


def plain_text(text: str) -> str:
    """Return a text without what no reader sees and without halves of surrogate pairs, which can't be sent."""
    return without_surrogates(without_invisible(text)).strip()


def passage(entry: CitedEntry) -> str:
    """Return an entry as one text: title and heading, then what it depends on, then the entry itself."""
    path = [part for part in (entry.title, *entry.heading.split(" > ")) if part.strip()]
    place = " > ".join(dict.fromkeys(" ".join(part.split()) for part in path))
    return "\n".join(part for part in map(plain_text, (place, *entry.context, entry.text)) if part)


def judge_version(**parts: object) -> str:
    """Return the short digest of everything that a judge's verdicts depend on, its claims excepted."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]
