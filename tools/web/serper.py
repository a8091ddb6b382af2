"""Search the web through the Serper API."""

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any

import httpx2

from graph.errors import WebUnavailable
from text.language import language
from tools.parsers.canonical_text import storable
from tools.settings import WebSettings
from tools.web.fetching import read_body
from tools.web.guard import LONGEST_URL
from tools.web.retry_after import retry_after

SEARCH_SECONDS = 10.0  # with the retries, while a run waits
MOST_RETRIES = 2
MOST_BYTES = 2_000_000
LONGEST_QUERY = 400
LONGEST_TITLE = 300
LONGEST_TEXT = 5000
BACKOFF_SECONDS = 0.5  # before the first retry; doubled before the second
# Serper's parameters for the interface language, and for the country if the language implies one.
_LOCALES = {"vi": {"hl": "vi", "gl": "vn"}, "zh": {"hl": "zh-cn"}, "en": {"hl": "en"}}
_URL = re.compile(r"https?://[^\s/@]+(?:[/?#]\S*)?", re.IGNORECASE)
_ENDED = re.compile(r"[.!?…。！？]\Z")
_DENIED = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class WebResult:
    """A search result. ``snippet`` is the excerpt of the page, ``date`` is text in the search engine's format."""

    title: str
    url: str
    snippet: str
    date: str | None = None


class Serper:
    """A client of the search endpoint. The key is sent in a header and appears nowhere else."""

    def __init__(
        self,
        settings: WebSettings,
        client: httpx2.AsyncClient,
        *,
        seconds: float = SEARCH_SECONDS,
        backoff: float = BACKOFF_SECONDS,
    ) -> None:
        self._url = f"{settings.base_url}/search"
        self._key = settings.api_key.get_secret_value()
        self._seconds = seconds
        self._client = client
        self._backoff = backoff

    async def search(self, query: str, *, results: int) -> list[WebResult]:
        """Search, with up to two retries on transient failures, all within the endpoint's timeout.

        Returns at most ``results`` distinct pages in the endpoint's order. Raises WebUnavailable.
        """
        try:
            async with asyncio.timeout(self._seconds):
                locale = _LOCALES.get(language(query), {})
                reply = await self._request_with_retries({"q": _shortened(query), "num": results, **locale})
        except TimeoutError as error:
            raise WebUnavailable(f"The web search did not answer within {self._seconds:g} seconds.") from error
        return _results(reply)[:results]

    async def _request_with_retries(self, body: dict[str, Any]) -> bytes:
        fault, wait = "", None
        cause: httpx2.TransportError | None = None
        for retry in range(MOST_RETRIES + 1):
            try:
                response = await self._client.send(self._request(body), stream=True)
            except httpx2.TransportError as error:
                fault, wait, cause = "The web search cannot be reached.", None, error
            else:
                try:
                    reply = await _read(response)
                finally:
                    await response.aclose()
                if response.status_code == 200:
                    return reply
                fault, wait, cause = self._fault(response.status_code, reply), retry_after(response.headers), None
                if response.status_code != 429 and response.status_code < 500:
                    raise WebUnavailable(fault)
            if retry == MOST_RETRIES:
                break
            # If the wait is longer than the timeout, the timeout ends it.
            await asyncio.sleep(self._backoff * 2**retry if wait is None else wait)
        raise WebUnavailable(fault) from cause

    def _request(self, body: dict[str, Any]) -> httpx2.Request:
        return httpx2.Request(
            "POST",
            self._url,
            headers={"X-API-KEY": self._key, "Accept-Encoding": "identity", "User-Agent": "Citewell"},
            json=body,
            extensions={"timeout": httpx2.Timeout(self._seconds).as_dict()},
        )

    def _fault(self, status: int, reply: bytes) -> str:
        """Return an error message with the endpoint's own, such as that the credit is used up."""
        if status in _DENIED:
            return f"The web search refuses the key ({status})."
        message = _object(reply).get("message")
        detail = " ".join(message.replace(self._key, "").split())[:200] if isinstance(message, str) else ""
        return f"The web search answers with {status}{': ' + detail if detail else ''}."


async def _read(response: httpx2.Response) -> bytes:
    try:
        return await read_body(response, MOST_BYTES)
    except WebUnavailable as error:
        raise WebUnavailable(f"The reply of the web search cannot be read: {error.message}.") from error


def _shortened(query: str) -> str:
    words = " ".join(query.split())
    return words if len(words) <= LONGEST_QUERY else words[:LONGEST_QUERY].rsplit(" ", 1)[0]


def _results(reply: bytes) -> list[WebResult]:
    """Return the distinct pages of a reply: of its answer box and knowledge panel first, then of its result list."""
    found_in = _object(reply)
    rows = found_in.get("organic")
    if not isinstance(rows, list):
        raise WebUnavailable("The reply of the web search cannot be read: it holds no results.")
    found: dict[str, WebResult] = {}
    for result in map(_result, [_answer_box(found_in.get("answerBox")), _panel(found_in.get("knowledgeGraph")), *rows]):
        if result is not None:
            found.setdefault(result.url, result)
    return list(found.values())


def _result(row: Any) -> WebResult | None:
    """Parse one result; None if it has no page URL, or neither a title nor a snippet."""
    if not isinstance(row, dict):
        return None
    url, _, _ = _line(row.get("link"), LONGEST_URL + 1).partition("#")
    title, snippet = _line(row.get("title"), LONGEST_TITLE), _line(row.get("snippet"), LONGEST_TEXT)
    if len(url) > LONGEST_URL or not _URL.fullmatch(url) or not (title or snippet):
        return None
    return WebResult(title or url[:LONGEST_TITLE], url, snippet or title, _line(row.get("date"), 40) or None)


def _answer_box(box: Any) -> dict[str, Any] | None:
    """Return the direct answer above the results in the form of a result."""
    if not isinstance(box, dict):
        return None
    answer, snippet = _line(box.get("answer"), LONGEST_TEXT), _line(box.get("snippet"), LONGEST_TEXT)
    if answer and answer not in snippet:
        snippet = f"{answer if _ENDED.search(answer) else f'{answer}.'} {snippet}".strip()
    return {**box, "snippet": snippet}


def _panel(graph: Any) -> dict[str, Any] | None:
    """Return the panel beside the results in the form of a result: its description, then its facts, one a line."""
    if not isinstance(graph, dict):
        return None
    facts = graph.get("attributes")
    shown = [_line(graph.get("description"), LONGEST_TEXT)]
    if isinstance(facts, dict):
        shown += [f"{name}: {value}." for name, value in facts.items() if isinstance(value, str)]
    link = graph.get("descriptionLink") or graph.get("website")
    return {"title": graph.get("title"), "link": link, "snippet": " ".join(filter(None, shown))}


def _line(value: Any, longest: int) -> str:
    return " ".join(storable(value).split())[:longest].rstrip() if isinstance(value, str) else ""


def _object(reply: bytes) -> dict[str, Any]:
    try:
        read = json.loads(reply)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}
