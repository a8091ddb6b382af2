"""An issuer's public keys (JWKS), fetched on demand and cached.

Keys are refetched after ten minutes, so a withdrawn key is trusted for at most ten minutes while the issuer answers,
and for at most an hour while it does not. A key that is not in the cache may be new: then the set is fetched at once,
but at most every 30 seconds, so that forged tokens can't make us hammer the issuer.

``jwt.PyJWKClient`` was tried instead. It drops its keys at the first failed fetch, asks an unavailable issuer again for
every request (each in a thread that waits for the one before), limits neither the bytes nor the time of a fetch, and
accepts keys that are too short or published with their private half. Working around all that took nearly as many
lines; a test checks the client against each point.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import httpx2
import jwt
from pydantic import BaseModel, ValidationError

from graph.errors import ConfigurationError, DependencyFailed
from tools.auth.network import is_loopback

log = logging.getLogger("citewell.identity")

FRESH_SECONDS = 600.0
KEPT_SECONDS = 3600.0
ASK_AGAIN_SECONDS = 30.0
RETRY_SECONDS = 2.0  # after a failed fetch with no keys in the cache
FETCH_SECONDS = 5.0
MOST_BYTES = 262_144
LEAST_BITS = 2048  # RFC 7518, 3.3

Clock = Callable[[], float]


class _Published(BaseModel):
    keys: list[dict[str, object]]


class KeySet:
    """The RSA keys that an issuer publishes at one address."""

    def __init__(self, url: str, *, clock: Clock = time.monotonic) -> None:
        """Set the URL. Raises ConfigurationError if it is neither https nor loopback: keys could be tampered with."""
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise ConfigurationError(
                "auth.jwks_url must be an https URL or point to this machine.",
                suggestion="Use the https address of the issuer's key set.",
            )
        self._url = url
        self._clock = clock
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched_at: float | None = None
        self._asked_at: float | None = None
        self._fetching = asyncio.Lock()

    async def find(self, kid: str | None) -> jwt.PyJWK | None:
        """Return the key with an id, or None; a token without an id matches the key of a set that has only one.

        Raises DependencyFailed if no keys are cached and none can be fetched.
        """
        if self._is_due(kid):
            async with self._fetching:
                if self._is_due(kid):  # another request may just have fetched them
                    await self._fetch()
        if self._older_than(KEPT_SECONDS):
            raise DependencyFailed("The keys of the tokens' issuer cannot be fetched.")
        return self._pick(kid)

    def _pick(self, kid: str | None) -> jwt.PyJWK | None:
        if kid is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(kid)

    def _is_due(self, kid: str | None) -> bool:
        """Whether to fetch the keys now; the minimum interval depends on how the last fetch ended."""
        if self._asked_at is None:
            return True
        since = self._clock() - self._asked_at
        if self._older_than(KEPT_SECONDS):
            return since >= RETRY_SECONDS
        return since >= ASK_AGAIN_SECONDS and (self._older_than(FRESH_SECONDS) or self._pick(kid) is None)

    def _older_than(self, seconds: float) -> bool:
        return self._fetched_at is None or self._clock() - self._fetched_at > seconds

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                body = await self._read()
            self._keys = _usable(_Published.model_validate_json(body))
            self._fetched_at = self._clock()
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, ValidationError) as error:
            log.warning("The keys at %s cannot be fetched: %s: %s", self._url, type(error).__name__, error)
        finally:
            self._asked_at = self._clock()

    async def _read(self) -> bytes:
        """Read the key set. Redirects are not followed: their target would be trusted like the configured URL."""
        body = b""
        async with (
            httpx2.AsyncClient(timeout=FETCH_SECONDS, headers={"Accept-Encoding": "identity"}) as client,
            client.stream("GET", self._url) as response,
        ):
            if response.status_code != 200:
                raise httpx2.ReadError(f"it answers with {response.status_code}")
            async for data in response.aiter_raw():
                body += data
                if len(body) > MOST_BYTES:
                    raise httpx2.ReadError(f"it is larger than {MOST_BYTES} bytes")
        return body


def _usable(published: _Published) -> dict[str | None, jwt.PyJWK]:
    """Return the keys for RS256 by id; skip secrets and private keys that were published by mistake."""
    usable: dict[str | None, jwt.PyJWK] = {}
    for key in published.keys:
        if (
            key.get("kty") != "RSA"
            or key.get("use", "sig") != "sig"
            or key.get("alg", "RS256") != "RS256"
            or "d" in key
        ):
            continue
        try:
            made = jwt.PyJWK(key, "RS256")
        except jwt.PyJWTError as error:
            log.warning("A key of the tokens' issuer cannot be read: %s", type(error).__name__)
            continue
        kid = key.get("kid")
        if made.key.key_size >= LEAST_BITS and (kid is None or isinstance(kid, str)):
            usable[kid] = made
    return usable
