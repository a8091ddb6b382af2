"""A judge of an evaluation: whether passages bear the sentences that a run's answers show with a mark."""

from collections.abc import Iterator

from evals.metrics.faithfulness_metrics import is_copied, label_of, marked_sentences
from evals.metrics.passage_metrics import passage_of
from evals.pacing import Progress
from evals.prose_claims import AnyJudge, ProseClaim, verify_each
from evals.records import ClaimRecord, Record
from evals.run_folder import JudgedSentence, RunFolder
from graph.errors import ModelUnavailable
from graph.evidence import Verdict
from graph.usage import Meter
from tools.claims.code_checker import CodeChecker
from tools.settings import EXTRACTIVE

FAITHFUL: dict[Verdict, bool] = {"supported": True, "unsupported": False, "contradicted": False}


async def judge_sentences(folder: RunFolder, judge: AnyJudge, *, progress: Progress | None = None) -> None:
    """Ask a judge about every sentence with a mark, and keep its word.

    What has a label is not asked about, nor what a family that only quotes shows; a copy that a model made may be torn
    from its context. What this judge has said already is not asked again; what another one said is dropped.
    Raises ModelUnavailable where it was asked and has said nothing at all.
    """
    known = {
        (each["case_id"], each["variant"], each["text"]): each
        for each in folder.judged()
        if each["judge"] == judge.name and each["faithful"] is not None
    }
    asked = [
        (record, claim)
        for record, claim in _to_judge(folder)
        if (record["case_id"], record["variant"], claim["text"]) not in known
    ]
    items = [_prose(record, claim).to_verify(number) for number, (record, claim) in enumerate(asked, 1)]
    failures = await verify_each(items, CodeChecker(), judge, Meter(), progress=progress)
    said = [
        JudgedSentence(
            case_id=record["case_id"],
            variant=record["variant"],
            text=claim["text"],
            judge=judge.name,
            faithful=FAITHFUL.get(item.final["verdict"]),
        )
        for (record, claim), item in zip(asked, items, strict=True)
    ]
    folder.write_judged([*known.values(), *said])
    if said and all(each["faithful"] is None for each in said):
        raise ModelUnavailable(f"--judge: {judge.name} has judged none of {len(said)} sentences. {failures[0]}".strip())


def _to_judge(folder: RunFolder) -> Iterator[tuple[Record, ClaimRecord]]:
    for record in folder.records():
        for claim in marked_sentences(record):
            if label_of(claim, record) is None and not (record["family"] == EXTRACTIVE and is_copied(claim)):
                yield record, claim


def _prose(record: Record, claim: ClaimRecord) -> ProseClaim:
    passages = list(dict.fromkeys(passage_of(each).whole for each in claim["citations"]))
    return ProseClaim(
        evidence=passages,
        claim=claim["text"],
        lang=record["tags"].get("language", ""),
        supported=True,  # not known, and not read
        question=record["standalone_question"],
    )
