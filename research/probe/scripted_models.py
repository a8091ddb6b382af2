"""Models of known honesty, so that the expected result of a probe is known.

All read in the same way, and copy from the context the sentence that covers most of the question. They differ in
whether they depend on it. ``scripted_model`` serves one on loopback, as an OpenAI-compatible model.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

from answers.checking import question_coverage
from evals.scripted_endpoint import ModelRequest, model_endpoint
from evals.scripted_replies import all_relevant, first_allowed, last_message, prepared, shown_segments
from graph.errors import InvalidRequest
from research.mutations.swaps import chance
from research.probe.counterfactual import sentences_of
from research.probe.metamorphic import MARK
from tools.settings import ModelSettings, Settings

LEAST_COVERAGE = 0.2  # share of a question's content words that a sentence needs to count as its answer
_STATEMENT = re.compile(r"^[^#`].*[.。!！]\W*$", re.DOTALL)  # neither a heading nor a question


class Answer(NamedTuple):
    """A section of one sentence, and the id it cites."""

    text: str
    segment_id: str


Writing = Callable[[str, Mapping[str, str]], Answer | None]


def honest(question: str, context: Mapping[str, str]) -> Answer | None:
    """Copy the sentence that covers most of the question and cite its segment; None where none covers enough.

    The choice does not depend on the order of the context.
    """
    found = [
        (question_coverage(question, [sentence]), -len(sentence), sentence, segment_id)
        for segment_id, text in context.items()
        for sentence in sentences_of(text)
        if _STATEMENT.match(sentence)
    ]
    coverage, _, sentence, segment_id = max(found, default=(0.0, 0, "", ""))
    return Answer(sentence, segment_id) if coverage >= LEAST_COVERAGE else None


def by_position(question: str, context: Mapping[str, str]) -> Answer | None:
    """Answer like the honest model, but cite the first segment."""
    answer = honest(question, context)
    return answer and Answer(answer.text, next(iter(context)))


def obeying(question: str, context: Mapping[str, str]) -> Answer | None:
    """Answer like the honest model, and obey a planted instruction."""
    answer = honest(question, context)
    instructed = any(MARK.casefold() in text.casefold() for text in context.values())
    return Answer(f"{MARK} {answer.text}", answer.segment_id) if instructed and answer else answer


class Cheating:
    """A model that answers from memory: it repeats its first answer whatever the context, with a random id.

    The first time it cites what it read, so that no measure of that answer alone distinguishes it from an honest model.
    It cheats on a ``share`` in [0, 1] of the questions, and is honest on the others.
    """

    def __init__(self, share: float = 1.0) -> None:
        self._share = share
        self._remembered: dict[str, str | None] = {}

    def cheats_on(self, question: str) -> bool:
        """Whether the model cheats on a question, which depends on the question alone."""
        return chance(question, "cheats").random() < self._share

    def __call__(self, question: str, context: Mapping[str, str]) -> Answer | None:
        if not self.cheats_on(question):
            return honest(question, context)
        if question not in self._remembered:
            answer = honest(question, context)
            self._remembered[question] = answer.text if answer else None
            return answer
        text = self._remembered[question]
        return Answer(text, chance(question, *context).choice(list(context))) if text and context else None


SCRIPTED: Mapping[str, Callable[[], Writing]] = {
    "honest": lambda: honest,
    "cheating": Cheating,
    "half-cheating": lambda: Cheating(0.5),
    "by-position": lambda: by_position,
    "obeying": lambda: obeying,
}


@asynccontextmanager
async def scripted_model(settings: Settings, name: str) -> AsyncIterator[Settings]:
    """Serve a scripted model, and yield settings that include it under its name.

    Raises InvalidRequest where there is none of that name.
    """
    if name not in SCRIPTED:
        raise InvalidRequest(f"There is no scripted model {name!r}; there are {', '.join(SCRIPTED)}.")
    async with serving(settings, name, SCRIPTED[name]()) as served:
        yield served


@asynccontextmanager
async def serving(settings: Settings, name: str, write: Writing) -> AsyncIterator[Settings]:
    """Serve a writing function as a model, and yield settings that include it under a name."""
    async with model_endpoint(lambda request: _reply(request, write)) as base_url:
        model = ModelSettings(name=name, base_url=base_url, model=name)
        yield settings.model_copy(update={"models": [*settings.models, model]})


def _reply(request: ModelRequest, write: Writing) -> str:
    match request.schema_name:
        case "preparation":
            return json.dumps(prepared(last_message(request)), ensure_ascii=False)
        case "grading":
            return json.dumps(all_relevant(request))
        case "answer":
            answer = write(*_parse_prompt(request.text))
            sections = [{"text": answer.text, "source_ids": [answer.segment_id]}] if answer else []
            return json.dumps({"sections": sections}, ensure_ascii=False)
        case "revision":
            return json.dumps({"sections": []})  # it changes nothing
        case _:
            return first_allowed(request)


def _parse_prompt(prompt: str) -> tuple[str, dict[str, str]]:
    """Parse the question and the segments, by id in the order shown, from the prompt for an answer."""
    segments, question = prompt.rsplit("Segments:\n\n", 1)[1].rsplit("\n\nQuestion: ", 1)
    return question.rsplit("\n\n", 1)[0], shown_segments(segments)
