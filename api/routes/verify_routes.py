"""Verify route: verdicts with proof for claims, or for an answer that somebody else wrote."""

import asyncio
import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from answers.claim_evidence import Evidence, GivenEvidence, LibraryEvidence
from answers.verification import MOST_BYTES, MOST_CLAIMS, Verification, verify_answer, verify_claims
from answers.verifier import Verifier
from api.dependencies import Asking, needs
from api.fields import Body, Budget, ModelName, Name, PageIds, Printable, Question
from api.problems import problems
from api.turns import Turns
from graph.evidence import Identity
from graph.usage import Meter
from text.scripts import SURROGATES
from tools.library.given_texts import MOST_BYTES as MOST_SOURCE_BYTES
from tools.library.given_texts import MOST_TEXTS, GivenText, given_segments
from tools.process.library import Library
from tools.runs.executor import WAITING_FOR_EACH
from tools.settings import RunSettings

AT_ONCE = 4  # verifications that a process works on; the others wait
_REFUSED = re.compile(f"[\0{SURROGATES}]")

router = APIRouter(prefix="/api", tags=["verify"])


def _encodable(value: str) -> str:
    if _REFUSED.search(value):
        raise ValueError("NUL and halves of surrogate pairs are not allowed")
    if not value.strip():
        raise ValueError("blank text is not allowed")
    return value


Text = Annotated[str, AfterValidator(_encodable)]
Label = Annotated[str, Field(min_length=1, max_length=500), Printable]


class GivenSource(Body):
    """A text to check claims against; it is not stored. Offsets of quotes count its code points."""

    text: Annotated[Text, Field(min_length=1, max_length=MOST_SOURCE_BYTES)]
    title: Label | None = None
    heading: Label | None = Field(default=None, description="The headings that the text stands under, joined by ` > `.")
    url: Annotated[str, Field(max_length=2000), Printable] | None = None


class VerifyRequest(Body):
    """Claims or an answer, and what to check them against: given texts, or what the library holds on each claim."""

    claims: Annotated[list[Annotated[Text, Field(max_length=10_000)]], Field(min_length=1, max_length=MOST_CLAIMS)] | (
        None
    ) = Field(default=None, description="Claims, each a text of its own. Either these or `answer`.")
    answer: Annotated[Text, Field(max_length=MOST_BYTES)] | None = Field(
        default=None,
        validate_default=True,
        description="A Markdown answer, whose claims are found; marks such as `[1]` name `sources` by number.",
    )
    question: Question | None = Field(default=None, description="The question that was answered.")
    sources: Annotated[list[GivenSource | Text], Field(min_length=1, max_length=MOST_TEXTS)] | None = Field(
        default=None, description="Texts to check against; without them each claim is searched for in the library."
    )
    document_ids: PageIds = Field(default=[], description="Search these documents of the library alone.")
    spaces: Annotated[list[Name], Field(max_length=100)] = Field(
        default=[], description="Search these spaces of the library alone, by id or slug."
    )
    model: ModelName = ""
    strict: bool = Field(default=False, description="Let `passed` be false where a claim is unverified, too.")
    judge: bool = Field(default=True, description="Let a judge decide on what code leaves open, if there is one.")
    budget: Budget = Budget()

    @field_validator("answer")
    @classmethod
    def _either(cls, value: str | None, info: ValidationInfo) -> str | None:
        if "claims" in info.data and (value is None) == (info.data["claims"] is None):
            raise ValueError("send either claims or answer")
        return value

    @field_validator("document_ids", "spaces")
    @classmethod
    def _of_the_library(cls, value: list[Any], info: ValidationInfo) -> list[Any]:
        if value and info.data.get("sources") is not None:
            raise ValueError("leave it out: with sources, the library is not searched")
        return value

    def given_texts(self) -> list[GivenText]:
        """Return the sources as texts with what is known of them."""
        return [
            GivenText(each)
            if isinstance(each, str)
            else GivenText(each.text, each.title or "", each.heading or "", each.url)
            for each in self.sources or ()
        ]


def verification_turns(settings: RunSettings) -> Turns:
    """Return the turns of a process's verifications."""
    return Turns("verifications", at_once=AT_ONCE, most_waiting=WAITING_FOR_EACH * settings.max_active)


def _turns(request: Request) -> Turns:
    turns: Turns = request.app.state.verification_turns
    return turns


@router.post(
    "/verify",
    responses=problems(400, 413, 422, 503),
)
@needs("read", action="read")
async def verify(body: VerifyRequest, by: Asking, turns: Annotated[Turns, Depends(_turns)]) -> Verification:
    """Verify claims, or an answer that somebody else wrote: each gets a verdict, reasons and exact quotes."""
    return await run_verification(body, by.me, by.library, turns)


async def run_verification(body: VerifyRequest, me: Identity, library: Library, turns: Turns) -> Verification:
    """Verify what a request asks for, as one of the process's verifications.

    Raises UnknownModel, NotFound, InvalidRequest for more than the limits allow, Overloaded, DatabaseUnavailable.
    """
    family = library.families(body.model)
    budget = body.budget
    async with turns.turn(), library.spending.beside_runs(me, "verification"):
        meter = Meter(calls_left=budget.model_calls, tokens_left=budget.tokens, seconds_left=budget.seconds)
        verifier = Verifier(family.checker, family.judge if body.judge else None, meter)
        evidence = await _evidence(body, me, library)
        if body.answer is not None:
            return await verify_answer(body.answer, evidence, verifier, body.question or "", strict=body.strict)
        return await verify_claims(body.claims or [], evidence, verifier, body.question or "", strict=body.strict)


async def _evidence(body: VerifyRequest, me: Identity, library: Library) -> Evidence:
    if body.sources is not None:
        return GivenEvidence(await asyncio.to_thread(given_segments, body.given_texts()))
    return LibraryEvidence(
        library.searcher, library.reader, me, spaces=body.spaces, document_ids=list(map(str, body.document_ids))
    )
