"""What a model wrote in one run, as it was first checked, and what of it was shown in the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.case_run import Followed, ask_case, context_of
from evals.cases import Case
from evals.dataset_store import StoredDataSet
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import CitewellError
from graph.events import RunFinished
from graph.evidence import Claim, Segment, Verdict
from research.probe.intervention import Intervention, intervening


@dataclass(frozen=True, slots=True)
class ReplyQuote:
    """Source text that proves a claim. Offsets are into the canonical text that the run read."""

    segment_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class RepliedClaim:
    """A claim of a section with its verdict and its proofs."""

    section: int
    text: str
    verdict: Verdict
    quotes: tuple[ReplyQuote, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one run.

    ``failure`` says why the run failed, "" where it did not. ``cited`` holds for each section the ids that the model
    gave it, ``claims`` what it wrote, with the verdicts of the first check; ``shown`` are the claims of the finished
    answer. Where the run says itself that sources disagree, that is none of the model's words and is in neither. A
    refusal has none of them.
    """

    failure: str = ""
    cited: tuple[tuple[str, ...], ...] = ()
    claims: tuple[RepliedClaim, ...] = ()
    shown: tuple[RepliedClaim, ...] = ()


class Asker:
    """Asks cases of a stored data set, each time in a session of its own."""

    def __init__(self, citewell: Citewell, stored: StoredDataSet, context: Context) -> None:
        self._citewell = citewell
        self._stored = stored
        self._context = context

    async def ask(self, case: Case, intervention: Intervention | None = None) -> Reply:
        """Ask a case, its earlier questions first and as ever. A run that fails is a reply that says so."""
        context, changed = context_of(case, self._context), intervening(intervention or Intervention())
        try:
            followed = await ask_case(self._citewell, self._stored, case, context, under=changed)
        except CitewellError as error:
            return Reply(failure=error.message)
        return _reply(followed)

    async def segments(self, segment_ids: Sequence[str]) -> dict[str, Segment]:
        """Read segments as the library holds them, by id."""
        found = await self._citewell.library.reader.read_segments(segment_ids, self._context.identity)
        return {segment.segment_id: segment for segment in found}


def _reply(followed: Followed) -> Reply:
    view, end = followed.view, followed.view.end
    if not isinstance(end, RunFinished):
        return Reply(failure="" if end is None else end.message)
    disagreements = len(view.disagreements)
    written = [each for _, each in sorted(view.first.items()) if each.stage == "checked"]
    written = written[: len(written) - disagreements]
    standing = len(end.message["sections"]) - disagreements
    shown = [claim for claim in end.message.get("claims", []) if claim["section_index"] < standing]
    return Reply(
        cited=tuple(tuple(section.source_ids) for section in written),
        claims=tuple(_said(position, claim) for position, section in enumerate(written) for claim in section.claims),
        shown=tuple(_said(claim["section_index"], claim) for claim in shown) if end.outcome == "answered" else (),
    )


def _said(section: int, claim: Claim) -> RepliedClaim:
    quotes = (ReplyQuote(each["segment_id"], each["start"], each["end"], each["quote"]) for each in claim["citations"])
    return RepliedClaim(section, claim["text"], claim["verdict"], tuple(quotes))
