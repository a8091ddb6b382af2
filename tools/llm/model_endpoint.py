"""Calls to one model of an OpenAI-compatible endpoint, with bounded retries, in a request format that it accepts."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graph.errors import ModelContextExceeded, ModelReplyInvalid
from graph.usage import Meter
from tools.llm.model_reply import AttemptFailed, ReplyEnd, ReplyPart, ReplyText, ReplyTokens
from tools.llm.prompting import Messages
from tools.llm.reply_schemas import FORMATS, ReplySchema
from tools.settings import ModelSettings
from tools.web.endpoint_reason import endpoint_reason

if TYPE_CHECKING:
    from tools.llm.model_call import Caller

LEAST_CONTEXT = 512  # tokens; no model that could answer has less
ATTEMPTS = 3  # before the first part of a reply
FIRST_WAIT = 0.5  # seconds between the first two; doubled before the third
LONGEST_WAIT = 20.0
ALTERNATIVES = 5  # tokens reported at each place of a reply; some endpoints allow no more

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _RequestFormat:
    """The request format that an endpoint accepts, as far as known. ``format`` is an index into FORMATS."""

    format: int = 0
    system: bool = True
    temperature: bool = True
    stream_options: bool = True
    logprobs: bool = True

    def fields(self, schema: ReplySchema | None, temperature: float | None, *, logprobs: bool) -> dict[str, Any]:
        fields: dict[str, Any] = {"stream_usage": self.stream_options}
        if self.temperature and temperature is not None:
            fields["temperature"] = temperature
        if self.logprobs and logprobs:
            fields |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        if schema and (response_format := schema.response_format(FORMATS[self.format])):
            # In extra_body: with a response_format, the SDK would parse the whole reply again at every delta.
            fields["extra_body"] = response_format
        return fields

    def messages(self, messages: Messages) -> Messages:
        """Return the messages, with what a system message says at the head of the first of the user's."""
        if self.system or len(messages) < 2 or messages[0][0] != "system":
            return messages
        (_, system), (role, first), *rest = messages
        return [(role, f"{system}\n\n{first}"), *rest]

    def simpler(self, refusal: str, *, has_schema: bool, logprobs: bool) -> "_RequestFormat | None":
        """Return the format to try after a refusal: without the refused field, else with a simpler reply format.

        Log-probabilities are dropped before the reply format, unless that is what the refusal names.
        """
        if self.temperature and "temperature" in refusal:
            return replace(self, temperature=False)
        if self.stream_options and "stream_options" in refusal:
            return replace(self, stream_options=False)
        if self.system and _NAMES_SYSTEM.search(refusal):
            return replace(self, system=False)
        if self.logprobs and logprobs and ("logprobs" in refusal or not _names_format(refusal)):
            return replace(self, logprobs=False)
        if has_schema and self.format + 1 < len(FORMATS):
            return replace(self, format=self.format + 1)
        return None

    def joined(self, other: "_RequestFormat") -> "_RequestFormat":
        """Return the simpler of two formats, field by field: calls that overlap learn of different refusals."""
        return _RequestFormat(
            format=max(self.format, other.format),
            system=self.system and other.system,
            temperature=self.temperature and other.temperature,
            stream_options=self.stream_options and other.stream_options,
            logprobs=self.logprobs and other.logprobs,
        )


# Templates without a system role, such as Gemma's, refuse it by name or for roles that do not alternate.
_NAMES_SYSTEM = re.compile(
    r"\bsystem (?:role|message|prompt|instruction)|developer instruction|roles must alternate", re.I
)
# "maximum context length is 8192 tokens", "n_ctx": 4096, "210000 tokens > 200000 maximum"
_CONTEXT = re.compile(
    r"\bn_ctx\W{1,4}(\d{3,7})|(?:context|maximum|at most|limit|allowed|only)[^\d.]{0,40}?(\d{3,7})|(\d{3,7}) maximum",
    re.I,
)
_IS_TOO_LONG = re.compile(r"context|too long|input token|maximum number of tokens", re.I)


def context_in(refusal: str) -> int | None:
    """Return the context length that an endpoint's refusal names; None where it is not about that."""
    found = _CONTEXT.search(refusal) if _IS_TOO_LONG.search(refusal) else None
    return next((int(number) for number in found.groups() if number), None) if found else None


def _names_format(refusal: str) -> bool:
    return "response_format" in refusal or "json" in refusal.lower()


class Endpoint:
    """One model of one endpoint. Keep it for the life of the process: it remembers which request format works.

    No connection is opened before the first call or kept between calls.
    """

    def __init__(
        self, model: ModelSettings, upstream: str, *, temperature: float | None, attempts: int = ATTEMPTS
    ) -> None:
        self.name = model.name
        self.context_tokens = model.context_tokens
        self._model = model
        self._upstream = upstream
        self._temperature = temperature
        self._attempts = attempts
        self._format = _RequestFormat()
        self._caller: Caller | None = None

    async def reply(
        self,
        messages: Messages,
        *,
        schema: ReplySchema | None,
        max_characters: int,
        meter: Meter,
        logprobs: bool = False,
    ) -> AsyncGenerator[ReplyPart, None]:
        """Stream a reply; its last part is ``ReplyEnd``. Closing the generator closes the connection at once.

        A request whose format is refused is sent again in a simpler one, which is remembered once it is accepted.
        With ``logprobs`` the reply's tokens are parts too, as long as the endpoint reports them; one that ignores the
        field is not asked again.
        Neither a reply nor a wait between two attempts exceeds the meter's seconds.
        Raises ModelUnavailable, ModelContextExceeded where the endpoint's context is smaller than was known (so a
        shorter request may pass), ModelReplyInvalid, BudgetExhausted.
        """
        if self._caller is None:
            self._caller = await asyncio.to_thread(self._open)
        caller = self._caller
        request_format, failures, has_tokens = self._format, 0, False
        while True:
            meter.call()
            started = False
            fields = request_format.fields(schema, self._temperature, logprobs=logprobs)
            attempt = caller.attempt(
                request_format.messages(messages), fields, max_characters=max_characters, meter=meter
            )
            try:
                async with aclosing(attempt) as parts:
                    async for part in parts:
                        if not started:
                            started, self._format = True, self._format.joined(request_format)
                        has_tokens = has_tokens or isinstance(part, ReplyTokens)
                        yield part
                if logprobs and not has_tokens:
                    self._format = replace(self._format, logprobs=False)
                return
            except AttemptFailed as failed:
                if started:
                    raise failed.error from failed
                if failed.refused is not None:
                    self._learn_context(failed)
                    has_schema = schema is not None
                    request_format = self._simpler(request_format, failed, has_schema=has_schema, logprobs=logprobs)
                    continue
                failures += 1
                wait = self._wait(failed, failures, meter)
            await asyncio.sleep(wait)

    async def read(self, messages: Messages, *, schema: ReplySchema, max_characters: int, meter: Meter) -> str:
        """Return a whole reply, without its thinking. Raises as ``reply``, and ModelReplyInvalid if a limit cut it."""
        texts: list[str] = []
        async with aclosing(self.reply(messages, schema=schema, max_characters=max_characters, meter=meter)) as parts:
            async for part in parts:
                if isinstance(part, ReplyText):
                    texts.append(part.text)
                elif isinstance(part, ReplyEnd) and part.cut:
                    raise ModelReplyInvalid("The model's reply was cut off by a limit.")
        return "".join(texts)

    def _open(self) -> "Caller":
        """Import langchain-openai and create its client: takes a second or two, so call it off the event loop."""
        from tools.llm.model_call import Caller

        return Caller(self._model, self._upstream)

    def _learn_context(self, failed: AttemptFailed) -> None:
        """Raise ModelContextExceeded where a refusal says that the context is smaller, and remember that."""
        found = context_in(failed.refused or "")
        if found is None or found < LEAST_CONTEXT:
            return
        if found < self.context_tokens:
            log.warning("Model %s has a context of %d tokens, not %d.", self.name, found, self.context_tokens)
            self.context_tokens = found
        raise ModelContextExceeded(f"The request is too long for the model's context of {found:,} tokens.") from failed

    def _simpler(
        self, refused: _RequestFormat, failed: AttemptFailed, *, has_schema: bool, logprobs: bool
    ) -> _RequestFormat:
        simpler = refused.simpler(failed.refused or "", has_schema=has_schema, logprobs=logprobs)
        if simpler is None:
            log.warning("Model %s refused a request: %s", self.name, endpoint_reason(failed.refused or ""))
            raise failed.error from failed
        log.info("Model %s refused %s; trying %s.", self.name, refused, simpler)
        return simpler

    def _wait(self, failed: AttemptFailed, failures: int, meter: Meter) -> float:
        wait = failed.wait if failed.wait is not None else FIRST_WAIT * 2 ** (failures - 1)
        if not failed.again or failures >= self._attempts or wait > LONGEST_WAIT:
            raise failed.error from failed
        remaining = meter.remaining()
        if remaining is not None and wait >= remaining:
            raise meter.exhaust("seconds") from failed
        log.warning("Model %s: %s Next attempt in %.1f s.", self.name, failed.error.message, wait)
        return wait
