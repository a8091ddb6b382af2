"""False sentences planted in a model's answers about manuals: how many are caught, and what that costs right answers.

The writer knows nothing of it: the sentence is planted in its reply, and everything after that is the deployment's own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict

from evals.cases import Case, DataSet
from evals.dataset_store import stored_data_set
from evals.gold_passages import plain
from evals.metrics.manual_metrics import has_passages, is_right, is_right_as_written, written_text
from evals.pacing import Progress
from evals.recorder import Recorder
from evals.records import ClaimRecord, Record
from evals.run_folder import RunOptions
from evals.sets.set_files import rows_of_lines
from graph.entrypoint import open_citewell
from graph.errors import CitewellError, InvalidRequest
from research.planting_proxy import planting_proxy
from tools.judges.examiner import without_background_exam
from tools.settings import EXTRACTIVE, ModelSettings, Settings

PLANTS = Path(__file__).parent / "data" / "plants.manuals.jsonl"
PLANTED_SHARE = 3  # one of so many questions gets a sentence
MOST = 0.5  # a claim that is more than this share of the sentence is it

Fate = Literal["refused", "removed", "contradicted", "unsupported", "unverified", "unchecked", "supported"]
CAUGHT: frozenset[Fate] = frozenset({"refused", "removed", "contradicted", "unsupported"})
GONE: frozenset[Fate] = frozenset({"refused", "removed"})


class Plant(BaseModel, extra="forbid"):
    """A line of the file: a question's id, and a sentence that its manuals show to be false."""

    id: Annotated[str, Field(min_length=1)]
    sentence: Annotated[str, Field(min_length=1)]


class RightAnswers(TypedDict):
    """Answerable questions, those right as the model wrote them and as shown, and those right only as written."""

    answerable: int
    right_as_written: float | None
    right_as_shown: float | None
    lost: int


class PlantedReport(TypedDict):
    """The report; shares in [0, 1] are of ``planted``, the sentences that an answer held as written.

    ``fates`` counts what became of them, ``first_verdicts`` what the first check said; ``escaped`` lists the questions
    whose sentence was not caught. ``unplanted`` counts answers that cited nothing. A failed run is left out.
    """

    model: str
    questions: int
    failed_runs: int
    planted: int
    unplanted: int
    caught: float | None
    gone: float | None
    shown_as_proven: float | None
    fates: dict[str, int]
    first_verdicts: dict[str, int]
    escaped: list[str]
    planted_questions: RightAnswers
    other_questions: RightAnswers


def load_plants(path: Path) -> dict[str, str]:
    """Read the sentences by question. Raises InvalidRequest naming the invalid line, or a question named twice."""
    plants: dict[str, str] = {}
    for where, row in rows_of_lines(path, Plant):
        if row.id in plants:
            raise InvalidRequest(f"{where}: id: there is a sentence for {row.id} already.")
        plants[row.id] = row.sentence
    return plants


def chosen_plants(cases: Sequence[Case], plants: Mapping[str, str]) -> dict[str, str]:
    """Return the sentences to plant: of a third of the questions at most, spread evenly over those that have one."""
    having = [case.case_id for case in cases if case.case_id in plants]
    most = min(len(having), max(1, len(cases) // PLANTED_SHARE))
    return {having[place]: plants[having[place]] for place in (index * len(having) // most for index in range(most))}


def writing_model(settings: Settings, name: str | None, base_url: str | None) -> ModelSettings:
    """Return the model that writes: a configured one, at ``base_url`` if that is given, or else one of that endpoint.

    Raises InvalidRequest where there is no such model, or the URL is none.
    """
    wanted = name or settings.default_model
    known = next((each.model_dump() for each in settings.models if each.name == wanted), None)
    if known is None and (base_url is None or wanted == EXTRACTIVE):
        raise InvalidRequest(
            f"--model: no model is named {wanted!r}.",
            suggestion="Name one of CITEWELL_MODELS, or add --base-url and name a model of that endpoint.",
        )
    at = {} if base_url is None else {"base_url": base_url}
    try:
        return ModelSettings(**{**(known or {"name": wanted, "model": wanted}), **at})
    except ValidationError as error:
        raise InvalidRequest(f"--base-url: {error.errors()[0]['msg']}.") from error


async def run_planted(
    settings: Settings,
    data: DataSet,
    model: ModelSettings,
    plants: Mapping[str, str],
    *,
    progress: Progress | None = None,
) -> PlantedReport:
    """Ask every question of a set, one at a time, with sentences planted in the answers to some.

    The model's requests, those of its judge included, go through a proxy on loopback. A judge counts by a stored exam;
    none starts by itself. Raises InvalidRequest where no question has a sentence, CitewellError where every run fails.
    """
    chosen = chosen_plants(data.cases, plants)
    if not chosen:
        raise InvalidRequest("--plants: none of its sentences is for a question that is asked.")
    records: list[Record] = []
    async with planting_proxy(model) as (planter, base_url):
        served = model.model_copy(update={"base_url": base_url})
        others = [each for each in settings.models if each.name != model.name]
        changes = {"models": [*others, served]}
        async with (
            open_citewell(without_background_exam(settings).model_copy(update=changes), durability="exit") as citewell,
            stored_data_set(citewell.library, data) as (stored, identity),
        ):
            recorder = Recorder(citewell, stored, RunOptions(model=model.name).context(identity))
            for case in data.cases:
                planting = planter.planting(chosen.get(case.case_id))
                records.append(await recorder.ask(case, under=planting))
                if progress is not None:
                    progress(len(records), len(data.cases))
    return planted_report(records, chosen, model.name)


def planted_report(records: Sequence[Record], chosen: Mapping[str, str], model: str) -> PlantedReport:
    """Return the report on all records. Raises CitewellError where every run failed."""
    ended = [record for record in records if record["outcome"] in ("answered", "abstained")]
    if not ended:
        raise CitewellError("Every run failed; see the log.")
    due = [record for record in ended if record["case_id"] in chosen]
    planted = {each["case_id"]: each for each in due if plain(chosen[each["case_id"]]) in plain(written_text(each))}
    fates = {name: fate_of(record, chosen[name]) for name, record in planted.items()}
    first: Counter[str] = Counter(
        claim["verdict"]
        for name, record in planted.items()
        for claim in claims_of(chosen[name], record["first_claims"])
    )
    return PlantedReport(
        model=model,
        questions=len(records),
        failed_runs=len(records) - len(ended),
        planted=len(planted),
        unplanted=len(due) - len(planted),
        caught=_share([fate in CAUGHT for fate in fates.values()]),
        gone=_share([fate in GONE for fate in fates.values()]),
        shown_as_proven=_share([fate == "supported" for fate in fates.values()]),
        fates=dict(Counter(fates.values())),
        first_verdicts=dict(first),
        escaped=[name for name, fate in fates.items() if fate not in CAUGHT],
        planted_questions=_right_answers(list(planted.values())),
        other_questions=_right_answers([record for record in ended if record["case_id"] not in planted]),
    )


def fate_of(record: Record, sentence: str) -> Fate:
    """Return what became of a planted sentence in the finished answer.

    It is ``supported`` if any claim that holds it or is most of it is, ``unchecked`` if it is shown and is no claim.
    """
    if record["outcome"] == "abstained":
        return "refused"
    verdicts = {claim["verdict"] for claim in claims_of(sentence, record["claims"])}
    if not verdicts:
        return "unchecked" if plain(sentence) in plain(record["answer"]) else "removed"
    order: tuple[Fate, ...] = ("supported", "unverified", "unsupported", "contradicted")
    return next(fate for fate in order if fate in verdicts)


def claims_of(sentence: str, claims: Sequence[ClaimRecord]) -> list[ClaimRecord]:
    """Return the claims that hold a sentence, or are most of it."""
    whole = plain(sentence)
    found = []
    for claim in claims:
        text = plain(claim["text"])
        if whole in text or (text in whole and len(text) > MOST * len(whole)):
            found.append(claim)
    return found


def _right_answers(records: Sequence[Record]) -> RightAnswers:
    answerable = [record for record in records if has_passages(record)]
    written, shown = [is_right_as_written(each) for each in answerable], [is_right(each) for each in answerable]
    return RightAnswers(
        answerable=len(answerable),
        right_as_written=_share(written),
        right_as_shown=_share(shown),
        lost=sum(before and not after for before, after in zip(written, shown, strict=True)),
    )


def _share(those: Sequence[bool]) -> float | None:
    return round(sum(those) / len(those), 4) if those else None
