"""Verify claims that somebody else wrote, as ``citewell verify`` does."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from answers.claim_evidence import Evidence, GivenEvidence, LibraryEvidence
from answers.verification import Verification, verify_answer, verify_claims
from answers.verifier import Verifier
from graph.errors import InvalidRequest
from graph.evidence import Identity
from graph.usage import Meter
from tools.claims.code_checker import CodeChecker
from tools.library.given_texts import GivenText, given_segments

if TYPE_CHECKING:
    from tools.process.library import Library  # most of the service, and texts are checked without one

MODEL_CALLS, SECONDS = 8, 120.0  # as of a run


async def verify(
    answer: str | Sequence[str],
    sources: Sequence[str | GivenText] = (),
    *,
    library: "Library | None" = None,
    identity: Identity | None = None,
    question: str = "",
    model: str = "",
    strict: bool = False,
) -> Verification:
    """Verify a Markdown answer, or claims one by one, against given texts or else against a library.

    Without a library code alone decides. With one, the judge of its model is asked about what code leaves open, and
    what ``identity`` may read is searched where no texts are given. ``question`` is what was answered; ``strict``:
    what is unverified does not pass. Raises InvalidRequest for texts beyond the limits, UnknownModel,
    DatabaseUnavailable.
    """
    if not sources and library is None:
        raise InvalidRequest("sources: there are none.", suggestion="Give texts to check against, or a library.")
    me = identity or Identity()
    async with AsyncExitStack() as charged:
        if library is not None:
            await charged.enter_async_context(library.spending.beside_runs(me, "verification"))
            family = library.families(model)
            checker, judge = family.checker, family.judge
        else:
            checker, judge = CodeChecker(), None
        verifier = Verifier(checker, judge, Meter(calls_left=MODEL_CALLS, seconds_left=SECONDS))
        evidence = await _evidence(sources, library, me)
        if isinstance(answer, str):
            return await verify_answer(answer, evidence, verifier, question, strict=strict)
        return await verify_claims(answer, evidence, verifier, question, strict=strict)


async def _evidence(sources: Sequence[str | GivenText], library: "Library | None", me: Identity) -> Evidence:
    if sources or library is None:
        texts = [GivenText(each) if isinstance(each, str) else each for each in sources]
        return GivenEvidence(await asyncio.to_thread(given_segments, texts))
    return LibraryEvidence(library.searcher, library.reader, me)
