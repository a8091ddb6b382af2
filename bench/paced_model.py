"""A scripted model at the speed of a real one: half a second a call, forty tokens a second, an answer in sections.

Its answer quotes and rewords sentences of the segments in its prompt.
"""

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from evals.scripted_endpoint import ModelRequest, Reply, Say, Step, Wait, scripted_endpoint
from evals.scripted_replies import sensible, shown_segments

PACED = "paced"
CALL_SECONDS = 0.5
TOKEN_SECONDS = 1 / 40
SECTIONS = 3
SENTENCES = 2  # per section, the shortest ones
FEWEST_WORDS = 6  # of a sentence
_SENTENCE = re.compile(r"[A-Z][^.]+\.(?= |$)")
_LONG_WORD = re.compile(r"\w{5}\.$")
_TOKEN = re.compile(r"\s?\w{1,5}|[^\w\s]+|\s+")  # a space goes with the word behind it, as in most vocabularies


@dataclass(frozen=True, slots=True)
class PacedAnswer:
    """An answer that was requested: its first sentence, and the tokens that begin and end it."""

    request: ModelRequest
    first_sentence: str
    begins_at: int
    ends_at: int

    @property
    def begun_at(self) -> int:
        """When the first token of the text was written, in nanoseconds of the monotonic clock."""
        return self.request.written[self.begins_at]

    @property
    def first_sentence_at(self) -> int:
        """When the last token of the first sentence was written."""
        return self.request.written[self.ends_at]

    @property
    def ended_at(self) -> int:
        """When the last token of the reply was written."""
        return self.request.written[-1]


class PacedModel:
    """The replies of the model, with the requests that were made for the question now being asked."""

    def __init__(self) -> None:
        self.base_url = ""
        self.requests: list[ModelRequest] = []
        self.answers: list[PacedAnswer] = []

    def forget(self) -> None:
        """Drop what was requested so far, before the next question."""
        self.requests.clear()
        self.answers.clear()

    def respond(self, request: ModelRequest) -> Reply:
        """Return the whole reply, a token at a time."""
        self.requests.append(request)
        text = self._answer(request) if request.prompt == "generate_answer" else sensible(request)
        steps: list[Step] = [Wait(CALL_SECONDS)]
        for token in _TOKEN.findall(text):
            steps += [Wait(TOKEN_SECONDS), Say(token)]
        return Reply(steps, tokens=len(steps))

    def _answer(self, request: ModelRequest) -> str:
        segments = shown_segments(request.text)
        sections = [_section(name, body, place) for place, (name, body) in enumerate(segments.items())]
        text = json.dumps({"sections": sections[:SECTIONS]})
        sentence = _SENTENCE.findall(str(sections[0]["text"]))[0]
        begin = text.index(sentence)
        begins_at, ends_at = _token_at(text, begin), _token_at(text, begin + len(sentence) - 1)
        self.answers.append(PacedAnswer(request, sentence, begins_at, ends_at))
        return text


@asynccontextmanager
async def paced_model() -> AsyncIterator[PacedModel]:
    """Serve the model on a free port until the context exits."""
    model = PacedModel()
    async with scripted_endpoint(model.respond, keep_alive=True) as endpoint:
        model.base_url = endpoint.base_url
        yield model


def _section(segment_id: str, body: str, place: int) -> dict[str, Sequence[str] | str]:
    """Return a section of some whole sentences of a segment, every other one of them in other words."""
    whole = [each for each in _SENTENCE.findall(body) if len(each.split()) >= FEWEST_WORDS]
    # An abbreviation as the last word would leave open whether the sentence has ended.
    quoted = sorted(whole, key=lambda each: (_LONG_WORD.search(each) is None, len(each)))[:SENTENCES]
    said = [_reworded(each) if (place + at) % 2 == 0 else each for at, each in enumerate(quoted)]
    return {"source_ids": [segment_id], "text": " ".join(said)}


def _reworded(sentence: str) -> str:
    """Leave the longest word within a sentence out, which is no negation."""
    first, *words, last = sentence.split()
    words.remove(max(words, key=len))
    return " ".join([first, *words, last])


def _token_at(text: str, offset: int) -> int:
    """Return the index of the token that holds a character."""
    return next(at for at, token in enumerate(_TOKEN.finditer(text)) if token.end() > offset)
