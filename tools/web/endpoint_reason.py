"""What an endpoint itself says of a request that it refuses."""

import re
from collections.abc import Iterator, Sequence

_KEYS = ("message", "msg", "detail", "reason", "error", "errors", "title")
_MOST = 300  # characters
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][\w.*-]{6,}|[\w-]{32,}")
_ADDRESS = re.compile(r"\b\w+://\S+")


def endpoint_reason(body: object, *, secrets: Sequence[str] = ()) -> str:
    """Return the reason in a reply's body as one line of at most 300 characters; "" where there is none.

    ``body`` is JSON as it was read, or text. Keys, addresses and ``secrets`` are left out: the line is shown to users.
    """
    said = " ".join(next(_reasons(body), "").split())
    for secret in filter(None, secrets):
        said = said.replace(secret, "…")
    said = _KEY_LIKE.sub("…", _ADDRESS.sub("…", said))
    return said if len(said) <= _MOST else said[: _MOST - 1] + "…"


def _reasons(body: object) -> Iterator[str]:
    if isinstance(body, str) and not body.lstrip().startswith("<"):  # a proxy's page says nothing of the request
        yield body
    elif isinstance(body, dict):
        for key in _KEYS:
            yield from _reasons(body.get(key))
    elif isinstance(body, list):
        for each in body:
            yield from _reasons(each)
