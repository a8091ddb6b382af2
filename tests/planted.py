"""Answers with planted falsehoods: 20 documents with four sentences on each, half of them false, and who writes them.

The model of a deployment answers each question with its sentences, under the right ids, and judges as one that knows
which of them are true.
"""

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evals.scripted_replies import claims_to_judge, judged, shown_segments
from graph.evidence import Identity
from tests.scripted_openai import ModelRequest, Reply, ScriptedOpenAI, answer, say
from tools.judges.exam import built_in_exam
from tools.library.ingestion import Ingestor, NewDocument

FILE = Path(__file__).with_name("fixtures") / "planted.jsonl"


@dataclass(frozen=True, slots=True)
class Planted:
    """A document, a question and the sentences that answer it, each with whether it is true and what makes it so."""

    id: str
    lang: str
    title: str
    document: str
    question: str
    sentences: tuple[tuple[str, bool, str], ...]

    @property
    def document_id(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"planted:{self.id}"))

    @property
    def true(self) -> list[str]:
        return [text for text, is_true, _ in self.sentences if is_true]

    @property
    def false(self) -> list[str]:
        return [text for text, is_true, _ in self.sentences if not is_true]


@cache
def planted() -> tuple[Planted, ...]:
    """Return the set."""
    rows = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    return tuple(
        Planted(
            row["id"],
            row["lang"],
            row["title"],
            row["document"],
            row["question"],
            tuple((each["text"], each["true"], each["kind"]) for each in row["sentences"]),
        )
        for row in rows
    )


async def ingest_planted(ingestor: Ingestor) -> None:
    """Store the documents."""
    for row in planted():
        name = f"{row.id}.md"
        await ingestor.ingest(
            Identity(), NewDocument(document_id=row.document_id, name=name, title=row.title, text=row.document)
        )


def is_true(claim: str) -> bool:
    """Whether a claim is, or is a part of, one of the true sentences, of the exam of judges too."""
    return claim in right_in_exam() or any(claim.strip() in text for row in planted() for text in row.true)


@cache
def right_in_exam() -> frozenset[str]:
    """Return the true claims of the exam, as a judge's request shows them."""
    return frozenset(" ".join(each.claim.claim.split()) for each in built_in_exam().claims if each.supported)


def sections_of(row: Planted, ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the answer to a question, two sentences a paragraph."""
    texts = [text for text, _, _ in row.sentences]
    between = "" if row.lang == "zh" else " "
    cited = list(ids)
    return [{"text": between.join(texts[at : at + 2]), "source_ids": cited} for at in range(0, len(texts), 2)]


class PlantedModel(ScriptedOpenAI):
    """The scripted endpoint as the model that writes and judges these answers; other prompts get a sensible reply."""

    def _next(self, request: ModelRequest) -> Reply:
        if request.prompt == "judge_claims":
            said = {
                number: judged("supported" if is_true(claim) else "unsupported")
                for number, claim in claims_to_judge(request).items()
            }
            return say(json.dumps(said, ensure_ascii=False))
        asked = next((row for row in planted() if row.question in request.text), None)
        if request.prompt == "generate_answer" and asked is not None:
            ids = [each for each in shown_segments(request.text) if each.startswith(asked.document_id)]
            return answer(*sections_of(asked, ids))
        return super()._next(request)
