"""Measure on RGB how often an answer notices that its sources disagree, through the real graph, family extractive."""

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
from tools.runs.run_request import RunRequest

_Pair = Literal["beside", "other_words", "undisputed"]


class Disputed(TypedDict):
    """A true passage beside a false one. ``noticed``, ``said`` and the rest are shares of ``questions``.

    ``noticed``: the finished message lists the two as disagreeing. ``said``: a section of the answer cites both and
    stands in its text. ``cites_true`` and ``cites_false``: a citation comes from that passage.
    """

    questions: int
    noticed: float
    said: float
    cites_true: float
    cites_false: float
    abstained: int


class RGBReport(TypedDict):
    """The false passage is the true one with its fact changed; in ``other_words`` it is another passage's.

    ``false_alarms`` is the share of ``undisputed`` questions, asked of two true passages or of a true one and noise,
    where the answer says that its sources disagree.
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
class _Asking:
    """A question and the only two passages in play."""

    pair: _Pair
    question: str
    passages: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Whether the answer says that its sources disagree, and which of the two passages it cites."""

    noticed: bool
    said: bool
    cites_first: bool
    cites_second: bool
    abstained: bool


async def run_rgb(citewell: Citewell, path: Path, *, progress: Progress | None = None) -> RGBReport:
    """Ask every question of two passages at a time, selected as the only pages: what disagrees, then what does not.

    All passages are ingested into one throw-away workspace; those that are not selected are out of play. Raises
    InvalidRequest where the file cannot be read or nothing in it disagrees, CitewellError where a run fails.
    """
    questions = [question for question in load_rgb(path) if question.wrong]
    if not questions:
        raise InvalidRequest(f"{path} holds no false passage that differs from its true one.")
    asking = [each for question in questions for each in _asking(question)]
    asked: dict[_Pair, list[_Asked]] = {"beside": [], "other_words": [], "undisputed": []}
    async with throwaway_workspace(citewell.library, "rgb") as identity:
        texts = [text for each in asking for text in each.passages]
        ids = await ingest_texts(citewell.library, identity, texts, [f"Passage {n}" for n in range(1, len(texts) + 1)])
        for number, each in enumerate(asking):
            pair = (ids[2 * number], ids[2 * number + 1])
            asked[each.pair].append(await _ask(citewell, identity, each.question, pair))
            if progress is not None:
                progress(number + 1, len(asking))
    undisputed = asked["undisputed"]
    same = _disputed(asked["beside"])
    return RGBReport(
        questions=same["questions"],
        noticed=same["noticed"],
        said=same["said"],
        false_alarms=_share([asked.noticed for asked in undisputed]),
        cites_true=same["cites_true"],
        cites_false=same["cites_false"],
        abstained=same["abstained"],
        undisputed=len(undisputed),
        other_words=_disputed(asked["other_words"]) if asked["other_words"] else None,
    )


def _asking(question: RGBQuestion) -> Iterator[_Asking]:
    """Yield the pairs of passages that a question is asked of; the true one comes first."""
    (at, false), *others = question.wrong
    true = question.true[at]
    yield _Asking("beside", question.text, (true, false))
    if others:
        yield _Asking("other_words", question.text, (true, others[0][1]))
    undisputed = [*question.true[:at], *question.true[at + 1 :], *question.noise]
    if undisputed:
        yield _Asking("undisputed", question.text, (true, undisputed[0]))


async def _ask(citewell: Citewell, identity: Identity, question: str, pair: tuple[str, str]) -> _Asked:
    context = Context(
        workspace=identity.workspace, user=identity.user, model="extractive", search="always", only_selected_pages=True
    )
    session = await citewell.library.sessions.create(identity)
    run = await citewell.runner.start(session.session_id, RunRequest(question, context, page_ids=pair))
    end = await run.finished()
    if isinstance(end, RunFailed):
        raise CitewellError(f"A run failed: {end.message}")
    return _asked(end, *pair)


def _asked(end: RunFinished, first: str, second: str) -> _Asked:
    message = end.message
    disagreeing = [
        set(each["segment_ids"]) for each in message.get("disagreements", []) if len(each["segment_ids"]) > 1
    ]
    said = any(
        set(section["source_ids"]) in disagreeing and section["text"] in message["answer"]
        for section in message["sections"]
    )
    cited = {citation["document_id"] for citation in message["citations"]}
    return _Asked(
        noticed=bool(disagreeing),
        said=said,
        cites_first=first in cited,
        cites_second=second in cited,
        abstained=end.outcome == "abstained",
    )


def _disputed(asked: Sequence[_Asked]) -> Disputed:
    return Disputed(
        questions=len(asked),
        noticed=_share([each.noticed for each in asked]),
        said=_share([each.said for each in asked]),
        cites_true=_share([each.cites_first for each in asked]),
        cites_false=_share([each.cites_second for each in asked]),
        abstained=sum(each.abstained for each in asked),
    )


def _share(met: Sequence[bool]) -> float:
    return round(sum(met) / len(met), 4) if met else 0.0
