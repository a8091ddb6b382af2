"""Records in ragas' data set format: rows of ``EvaluationDataset.from_list``, or lines of ``from_jsonl``."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from evals.records import GoldSentence, Record


class Sample(TypedDict):
    """A ``SingleTurnSample`` of ragas. A field that a question has nothing for is absent, as ragas writes it.

    Contexts are the segments that the writer was given, best first, and their ids the names of the documents they are
    from: segments are cut by Citewell, so that only documents have names that gold evidence knows too. Reference
    contexts are the gold sentences, those of one document joined.
    """

    user_input: str
    retrieved_contexts: list[str]
    retrieved_context_ids: list[str]
    response: NotRequired[str]
    reference: NotRequired[str]
    reference_contexts: NotRequired[list[str]]
    reference_context_ids: NotRequired[list[str]]


def sample_of(record: Record) -> Sample:
    """Lay a record out as a sample.

    The question of a conversation is the one that the run made standalone. A response is there where the run answered;
    references where an answer is expected: the first of the right answers, and the first of the sets of evidence.
    """
    sample = Sample(
        user_input=record["standalone_question"] if record["before"] else record["question"],
        retrieved_contexts=[source["text"] for source in record["sources"]],
        retrieved_context_ids=[source["document"] for source in record["sources"]],
    )
    if record["outcome"] == "answered":
        sample["response"] = record["answer"]
    if record["expected"] == "answered":
        if record["answers"]:
            sample["reference"] = record["answers"][0]
        if record["evidence"]:
            texts = _by_document(record["evidence"][0])
            sample["reference_contexts"], sample["reference_context_ids"] = list(texts.values()), list(texts)
    return sample


def write_samples(file: Path, records: Iterable[Record]) -> int:
    """Write the samples of runs that did not fail as JSON lines; give how many were written."""
    samples = [sample_of(record) for record in records if record["error"] is None]
    lines = (json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
    file.write_text("".join(lines), encoding="utf-8")
    return len(samples)


def _by_document(sentences: Iterable[GoldSentence]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for sentence in sentences:
        before = texts.get(sentence["document"])
        texts[sentence["document"]] = sentence["text"] if before is None else f"{before} {sentence['text']}"
    return texts
