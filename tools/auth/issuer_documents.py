"""Documents that a trusted issuer publishes, such as its keys: fetched when needed, within limits, and cached."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpx2
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeyFlexible, KeySet, RSAKey, import_key
from joserfc.jws import JWSRegistry
from pydantic import BaseModel, ValidationError

from graph.errors import ConfigurationError, DependencyFailed
from tools.auth.identities import is_loopback

log = logging.getLogger("citewell.identity")

FRESH_SECONDS = 600.0
KEPT_SECONDS = 3600.0
ASK_AGAIN_SECONDS = 30.0
RETRY_SECONDS = 2.0  # after a failed fetch with nothing in the cache
FETCH_SECONDS = 5.0
MOST_BYTES = 262_144
LEAST_BITS = 2048  # of an RSA key: RFC 7518, 3.3
LONGEST_TOKEN = 16_384

Clock = Callable[[], float]
Document = TypeVar("Document")


class IssuerDocument(Generic[Document]):
    """A document at one address, kept for ten minutes, and for an hour while its issuer does not answer."""

    def __init__(
        self,
        what: str,
        url: str,
        parse: Callable[[bytes], Document],
        *,
        failure: type[DependencyFailed] = DependencyFailed,
        clock: Clock = time.monotonic,
    ) -> None:
        """Set what the document is called, its address, a parser that raises ValueError, and the error without it."""
        self._failure = failure
        self._what = what
        self._url = url
        self._parse = parse
        self._clock = clock
        self._document: Document | None = None
        self._fetched_at: float | None = None
        self._asked_at: float | None = None
        self._fetching = asyncio.Lock()

    async def read(self, *, lacks: Callable[[Document], bool] = lambda document: False) -> Document:
        """Return the document; one that ``lacks`` what is looked for is fetched again, every 30 seconds at most.

        Raises its failure if none is cached and none can be fetched.
        """
        if self._is_due(lacks):
            async with self._fetching:
                if self._is_due(lacks):  # another request may just have fetched it
                    await self._fetch()
        if self._document is None or self._older_than(KEPT_SECONDS):
            raise self._failure(f"{self._what} cannot be fetched.")
        return self._document

    def _is_due(self, lacks: Callable[[Document], bool]) -> bool:
        """Whether to fetch now; the minimum interval depends on how the last fetch ended."""
        if self._asked_at is None:
            return True
        since = self._clock() - self._asked_at
        if self._document is None or self._older_than(KEPT_SECONDS):
            return since >= RETRY_SECONDS
        return since >= ASK_AGAIN_SECONDS and (self._older_than(FRESH_SECONDS) or lacks(self._document))

    def _older_than(self, seconds: float) -> bool:
        return self._fetched_at is None or self._clock() - self._fetched_at > seconds

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                body = await _read(self._url)
            self._document = self._parse(body)
            self._fetched_at = self._clock()
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, ValidationError, ValueError) as error:
            log.warning("%s cannot be fetched from %s: %s: %s", self._what, self._url, type(error).__name__, error)
        finally:
            self._asked_at = self._clock()


class _TokenRegistry(JWSRegistry):
    """Takes headers and signatures of any length that a token may have, such as a header with certificates."""

    max_header_length = LONGEST_TOKEN
    max_signature_length = LONGEST_TOKEN


def decode_token(token: str, key: KeyFlexible, algorithms: Sequence[str]) -> jwt.Token:
    """Return a token that was signed by one of these algorithms. Raises JoseError, ValueError, RecursionError."""
    try:
        return jwt.decode(token, key, registry=_TokenRegistry(algorithms=algorithms, strict_check_header=False))
    except TypeError as error:  # joserfc does not check that the header is an object, and "crit" a list of names
        raise ValueError("the token's header has a wrong form") from error


class _Published(BaseModel):
    keys: list[dict[str, Any]]


class IssuerKeys:
    """The public keys that an issuer publishes at one address, by which its tokens are verified."""

    def __init__(
        self,
        what: str,
        url: str,
        *,
        failure: type[DependencyFailed] = DependencyFailed,
        clock: Clock = time.monotonic,
    ) -> None:
        self._document = IssuerDocument(what, url, _usable, failure=failure, clock=clock)

    async def decode(self, token: str, algorithms: Sequence[str]) -> jwt.Token:
        """Return a token that the issuer signed by one of these algorithms.

        A token without a key's id fits the only key of a set that is for them. Raises JoseError, ValueError,
        RecursionError where it is not good, and the failure where there are no keys.
        """
        try:
            return decode_token(token, _keys_for(algorithms, await self._document.read()), algorithms)
        except InvalidKeyIdError:  # keys are rotated
            keys = await self._document.read(lacks=lambda keys: True)
            return decode_token(token, _keys_for(algorithms, keys), algorithms)


def _keys_for(algorithms: Sequence[str], keys: KeySet) -> KeySet:
    return KeySet([key for key in keys if JWSRegistry.filter_algorithms(key, list(algorithms))])


def _usable(body: bytes) -> KeySet:
    """Return the public keys of a key set; skip secrets, private and short keys, and kinds that are not known."""
    usable = []
    for data in _Published.model_validate_json(body).keys:
        if data.get("use", "sig") != "sig" or data.get("kty") not in ("RSA", "EC") or "d" in data:
            continue
        try:
            key = import_key(data)
        except (JoseError, ValueError) as error:
            log.warning("A key of an issuer cannot be read: %s", type(error).__name__)
            continue
        if not isinstance(key, RSAKey) or key.raw_value.key_size >= LEAST_BITS:
            usable.append(key)
    return KeySet(usable)


def secure_url(setting: str, url: str) -> str:
    """Return a URL that nobody on the way can tamper with: https, or this machine. Raises ConfigurationError."""
    if not is_secure(url):
        raise ConfigurationError(
            f"{setting} must be an https URL or point to this machine.",
            suggestion="Use the issuer's https address.",
        )
    return url


def is_secure(url: str) -> bool:
    """Whether a URL is https, or http on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:  # an unclosed bracket
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))


async def _read(url: str) -> bytes:
    """Read a document. Redirects are not followed: their target would be trusted like the configured URL."""
    body = b""
    async with (
        httpx2.AsyncClient(timeout=FETCH_SECONDS, headers={"Accept-Encoding": "identity"}) as client,
        client.stream("GET", url) as response,
    ):
        if response.status_code != 200:
            raise httpx2.ReadError(f"it answers with {response.status_code}")
        async for data in response.aiter_raw():
            body += data
            if len(body) > MOST_BYTES:
                raise httpx2.ReadError(f"it is larger than {MOST_BYTES} bytes")
    return body
