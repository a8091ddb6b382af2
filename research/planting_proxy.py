"""A proxy in front of a model that plants one false sentence in its answer, and passes all else through unchanged."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2

from evals.scripted_endpoint import ModelRequest, Reply, in_pieces, say, scripted_endpoint, status
from graph.errors import ModelReplyInvalid
from tools.llm.reply_schemas import first_json_object
from tools.settings import ModelSettings

PIECE = 7  # characters of a planted reply that are streamed at once
_BLOCK_STARTS = ("|", "-", "*", "+", "`", "~", "#", ">")
_KEPT_HEADERS = ("Content-Type", "Retry-After")
_CHINESE_ENDS = ("。", "！", "？")


class Planter:
    """Replies of an endpoint, with a sentence planted in the first answer of each question that has one."""

    def __init__(self, client: httpx2.AsyncClient, upstream: str) -> None:
        self._client = client
        at = urlsplit(upstream)
        self._host, self._path = f"{at.scheme}://{at.netloc}", at.path.rstrip("/")
        self._sentence: str | None = None

    @contextmanager
    def planting(self, sentence: str | None) -> Iterator[None]:
        """Plant a sentence in the next answer that cites anything; one question may be asked at a time."""
        self._sentence = sentence
        try:
            yield
        finally:
            self._sentence = None

    async def reply(self, request: ModelRequest) -> Reply:
        """Ask the endpoint, and return its reply as it came, or with the sentence planted."""
        headers = {name: request.headers[name] for name in ("authorization", "accept") if name in request.headers}
        url = f"{self._host}{self._path}{request.path.removeprefix('/v1')}"
        try:
            response = await self._client.post(url, json=request.body, headers=headers)
        except httpx2.TimeoutException:
            return status(504, "The model behind the proxy did not answer in time.")
        except httpx2.TransportError as error:
            return status(502, f"The model behind the proxy cannot be reached: {error}")
        as_it_came = Reply(
            status=response.status_code,
            headers={name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers},
            body=response.content,
        )
        if self._sentence is None or response.status_code != 200 or not _is_answer(request):
            return as_it_came
        planted = with_sentence(_text_of(response.text, streamed=bool(request.body.get("stream"))), self._sentence)
        if planted is None:
            return as_it_came
        self._sentence = None
        return say(*in_pieces(planted, PIECE))


@asynccontextmanager
async def planting_proxy(model: ModelSettings) -> AsyncIterator[tuple[Planter, str]]:
    """Serve a proxy to a model's endpoint on loopback; yield the planter and the proxy's base URL."""
    async with httpx2.AsyncClient(timeout=model.timeout_seconds, trust_env=False) as client:
        planter = Planter(client, model.base_url)
        async with scripted_endpoint(planter.reply) as endpoint:
            yield planter, endpoint.base_url


def with_sentence(reply: str, sentence: str) -> str | None:
    """Return a reply with a sentence at the end of its first section that cites a source, under the same ids.

    None where no section does, as in a refusal, or the reply can't be read.
    """
    try:
        answer = first_json_object(reply)
    except ModelReplyInvalid:
        return None
    sections = answer.get("sections")
    if not isinstance(sections, list):
        return None
    cited = next((each for each in sections if _cites(each)), None)
    if cited is None:
        return None
    cited["text"] = _appended(cited["text"].rstrip(), sentence)
    return json.dumps(answer, ensure_ascii=False)


def _cites(section: Any) -> bool:
    return isinstance(section, dict) and isinstance(section.get("text"), str) and bool(section.get("source_ids"))


def _appended(text: str, sentence: str) -> str:
    """Append a sentence to the last paragraph, or below a list, table or code block."""
    last = text.rsplit("\n", 1)[-1].lstrip()
    if last.startswith(_BLOCK_STARTS) or last[:1].isdigit():
        return f"{text}\n\n{sentence}"
    return f"{text}{sentence}" if text.endswith(_CHINESE_ENDS) else f"{text} {sentence}"


def _is_answer(request: ModelRequest) -> bool:
    """Return whether a request asks for an answer; one without a schema is known by its prompt."""
    return request.schema_name == "answer" or (not request.schema_name and request.prompt == "generate_answer")


def _text_of(body: str, *, streamed: bool) -> str:
    """Return the text of a completion; "" where the reply has another shape."""
    try:
        if not streamed:
            return str(json.loads(body)["choices"][0]["message"]["content"] or "")
        lines = [line.removeprefix("data:").strip() for line in body.splitlines() if line.startswith("data:")]
        return "".join(_delta(json.loads(line)) for line in lines if line and line != "[DONE]")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return ""


def _delta(chunk: Mapping[str, Any]) -> str:
    return "".join(choice["delta"].get("content") or "" for choice in chunk.get("choices") or [])
