"""What a foreign error of a model call means: our error, and whether another attempt may help."""

import json
import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from graph.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable
from tools.llm.reply import AttemptFailed

UNREADABLE = (ValueError, KeyError, TypeError, IndexError, AttributeError)  # what the SDK makes of a chunk that is none
FOREIGN = (openai.OpenAIError, httpx2.HTTPError, TimeoutError, *UNREADABLE)


def failure_of(error: Exception) -> AttemptFailed:
    """Say what a failed attempt means; the message names no host and no key."""
    match error:
        case openai.BadRequestError() | openai.UnprocessableEntityError():
            words = json.dumps(error.body, ensure_ascii=False) if error.body else error.message
            return AttemptFailed(_refused("refused the request", "Check the model's settings."), refused=words)
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return AttemptFailed(_refused("refused the API key", "Check the api_key of this model."))
        case openai.NotFoundError():
            return AttemptFailed(_refused("does not know the model", "Check the base_url and model settings."))
        case openai.RateLimitError():
            if error.code == "insufficient_quota":
                return AttemptFailed(_refused("says that its quota is used up", "Check the account of this model."))
            return AttemptFailed(_unavailable("is rate limited"), again=True, wait=_retry_after(error))
        case openai.APIStatusError():
            failed = _unavailable(f"answered with HTTP {error.status_code}")
            return AttemptFailed(failed, again=error.status_code >= 500, wait=_retry_after(error))
        case openai.APITimeoutError() | TimeoutError():
            return AttemptFailed(_unavailable("did not answer in time"))
        case openai.APIConnectionError() | httpx2.HTTPError():
            return AttemptFailed(_unavailable("could not be reached, or broke the connection"), again=True)
        case openai.APIError():
            return AttemptFailed(_unavailable("reported an error in its reply"), again=True)
        case _:
            return AttemptFailed(ModelReplyInvalid("The model endpoint's reply is not a chat completion."))


def _unavailable(what: str, suggestion: str | None = None) -> ModelUnavailable:
    return ModelUnavailable(f"The model endpoint {what}.", suggestion=suggestion)


def _refused(what: str, suggestion: str) -> ModelRefused:
    return ModelRefused(f"The model endpoint {what}.", suggestion=suggestion)


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Read Retry-After, in seconds or as a date. Never negative; None where it is absent or unreadable."""
    value = error.response.headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
