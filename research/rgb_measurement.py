"""Measurement on RGB of how often answers notice that sources disagree, with the real graph and extractive family."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from evals.dataset_store import ingest_texts, throwaway_workspace
from evals.pacing import Progress
from evals.sets.rgb import RGBQuestion, load_rgb
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import CitewellError, InvalidRequest
from graph.events import RunFailed, RunFinished
from graph.evidence import Identity
from tools.sessions.run_request import RunRequest

_Pair = Literal["same_words", "other_words", "undisputed"]


class Disputed(TypedDict):
    """Results with a true and a false passage. ``noticed``, ``said`` and the rest are shares of ``questions``.

    ``noticed``: the finished message lists the two as disagreeing. ``said``: a section that cites both is in the
    answer's text. ``cites_true`` and ``cites_false``: a citation comes from that passage.
    """

    questions: int
    noticed: float
    said: float
    cites_true: float
    cites_false: float
    abstained: int


class RGBReport(TypedDict):
    """The report. The false passage is the true one with its fact changed, or in ``other_words`` another passage.

    ``false_alarms`` is the share of ``undisputed`` questions, asked of two true passages or of a true one and noise,
    where the answer reports that its sources disagree.
    """

    questions: int
    noticed: float
    said: float
    false_alarms: float
    cites_true: float
    cites_false: float
    abstained: int
    undisputed: int
    other_words: Disputed | None


@dataclass(frozen=True, slots=True)
class _Question:
    """A question and the two passages selected for it."""

    pair: _Pair
    question: str
    passages: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Result:
    """Whether an answer reports that its sources disagree, and which of the two passages it cites."""

    noticed: bool
    said: bool
    cites_first: bool
    cites_second: bool
    abstained: bool


async def run_rgb(citewell: Citewell, path: Path, *, progress: Progress | None = None) -> RGBReport:
    """Ask every question with two passages selected as the only pages, first disagreeing ones, then undisputed ones.

    All passages are ingested into one throw-away workspace; unselected ones are not used. Raises
    InvalidRequest where the file cannot be read or nothing in it disagrees, CitewellError where a run fails.
    """
    questions = [question for question in load_rgb(path) if question.wrong]
    if not questions:
        raise InvalidRequest(f"{path} holds no false passage that differs from its true one.")
    pairs = [each for question in questions for each in _pairs(question)]
    results: dict[_Pair, list[_Result]] = {"same_words": [], "other_words": [], "undisputed": []}
    async with throwaway_workspace(citewell.library, "rgb") as identity:
        texts = [text for each in pairs for text in each.passages]
        ids = await ingest_texts(citewell.library, identity, texts, [f"Passage {n}" for n in range(1, len(texts) + 1)])
        for number, each in enumerate(pairs):
            pair = (ids[2 * number], ids[2 * number + 1])
            results[each.pair].append(await _ask(citewell, identity, each.question, pair))
            if progress is not None:
                progress(number + 1, len(pairs))
    undisputed = results["undisputed"]
    same = _disputed(results["same_words"])
    return RGBReport(
        questions=same["questions"],
        noticed=same["noticed"],
        said=same["said"],
        false_alarms=_share([each.noticed for each in undisputed]),
        cites_true=same["cites_true"],
        cites_false=same["cites_false"],
        abstained=same["abstained"],
        undisputed=len(undisputed),
        other_words=_disputed(results["other_words"]) if results["other_words"] else None,
    )


def _pairs(question: RGBQuestion) -> Iterator[_Question]:
    """Yield a question with each pair of passages to ask it of; the true passage comes first."""
    (at, false), *others = question.wrong
    true = question.true[at]
    yield _Question("same_words", question.text, (true, false))
    if others:
        yield _Question("other_words", question.text, (true, others[0][1]))
    undisputed = [*question.true[:at], *question.true[at + 1 :], *question.noise]
    if undisputed:
        yield _Question("undisputed", question.text, (true, undisputed[0]))


async def _ask(citewell: Citewell, identity: Identity, question: str, pair: tuple[str, str]) -> _Result:
    context = Context(
        workspace=identity.workspace, user=identity.user, model="extractive", search="always", only_selected_pages=True
    )
    session = await citewell.library.sessions.create(identity)
    run = await citewell.runner.start(session.session_id, RunRequest(question, context, page_ids=pair))
    end = await run.finished()
    if isinstance(end, RunFailed):
        raise CitewellError(f"A run failed: {end.message}")
    return _result(end, *pair)


def _result(end: RunFinished, first: str, second: str) -> _Result:
    message = end.message
    disagreeing = [
        set(each["segment_ids"]) for each in message.get("disagreements", []) if len(each["segment_ids"]) > 1
    ]
    said = any(
        set(section["source_ids"]) in disagreeing and section["text"] in message["answer"]
        for section in message["sections"]
    )
    cited = {citation["document_id"] for citation in message["citations"]}
    return _Result(
        noticed=bool(disagreeing),
        said=said,
        cites_first=first in cited,
        cites_second=second in cited,
        abstained=end.outcome == "abstained",
    )


def _disputed(results: Sequence[_Result]) -> Disputed:
    return Disputed(
        questions=len(results),
        noticed=_share([each.noticed for each in results]),
        said=_share([each.said for each in results]),
        cites_true=_share([each.cites_first for each in results]),
        cites_false=_share([each.cites_second for each in results]),
        abstained=sum(each.abstained for each in results),
    )


def _share(met: Sequence[bool]) -> float:
    return round(sum(met) / len(met), 4) if met else 0.0
