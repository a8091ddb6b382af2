"""When an issuer is asked for its keys, and which of them count."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from joserfc.errors import InvalidKeyIdError

from graph.errors import DependencyFailed
from tests.api.serving import served
from tests.issuer import Issuer, claims, private_key, published, signed
from tools.auth.issuer_documents import (
    ASK_AGAIN_SECONDS,
    FRESH_SECONDS,
    KEPT_SECONDS,
    MOST_BYTES,
    RETRY_SECONDS,
    IssuerKeys,
)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Asked:
    """An issuer, its keys as we see them, and the time."""

    def __init__(self, issuer: Issuer, url: str) -> None:
        self.issuer = issuer
        self.clock = Clock()
        self.url = url
        self.keys = IssuerKeys("The key set", url, clock=self.clock)

    async def knows(self, kid: str | None) -> bool:
        token = signed(kid) if kid else jwt.encode(claims(), private_key("one", 2048), algorithm="RS256")
        try:
            await self.keys.decode(token, ["RS256"])
        except InvalidKeyIdError:
            return False
        return True


@pytest.fixture
async def asked() -> AsyncIterator[Asked]:
    issuer = Issuer()
    async with served(issuer) as url:
        yield Asked(issuer, url)


async def test_keys_are_fetched_once_and_kept(asked: Asked) -> None:
    assert all(await asyncio.gather(*(asked.knows("one") for _ in range(20))))
    assert asked.issuer.asked == 1


async def test_an_unknown_key_is_asked_for_at_once_but_not_again_and_again(asked: Asked) -> None:
    assert await asked.knows("one")
    asked.clock.now += ASK_AGAIN_SECONDS
    asked.issuer.keys.append(published("two"))
    assert await asked.knows("two")
    for _ in range(20):
        assert not await asked.knows("made up")
    assert asked.issuer.asked == 2
    asked.clock.now += ASK_AGAIN_SECONDS
    assert not await asked.knows("made up")
    assert asked.issuer.asked == 3


async def test_a_key_that_is_withdrawn_is_forgotten_when_the_keys_are_fetched_anew(asked: Asked) -> None:
    assert await asked.knows("one")
    asked.issuer.keys = [published("two")]
    assert await asked.knows("one")
    asked.clock.now += FRESH_SECONDS + 1
    assert not await asked.knows("one")
    assert await asked.knows("two")


async def test_an_issuer_that_is_down_is_forgiven_for_an_hour(asked: Asked) -> None:
    assert await asked.knows("one")
    asked.issuer.status = 500
    asked.clock.now += KEPT_SECONDS
    assert await asked.knows("one")
    assert asked.issuer.asked == 2
    asked.clock.now += 1 + RETRY_SECONDS
    with pytest.raises(DependencyFailed):
        await asked.knows("one")
    asked.issuer.status = 200
    with pytest.raises(DependencyFailed):
        await asked.knows("one")  # it has only just been asked
    asked.clock.now += RETRY_SECONDS
    assert await asked.knows("one")
    assert asked.issuer.asked == 4


@pytest.mark.parametrize(
    "reply",
    [
        {"status": 404},
        {"status": 302, "headers": {"location": "/elsewhere"}},
        {"body": b"{"},
        {"body": b"[]"},
        {"body": b'{"keys": 7}'},
        {"body": b"\xff"},
        {"body": json.dumps({"keys": [published("one")], "padding": "x" * MOST_BYTES}).encode()},
    ],
    ids=["404", "redirect", "broken", "list", "number", "bytes", "large"],
)
async def test_a_reply_that_is_no_key_set_gives_no_keys(asked: Asked, reply: dict[str, Any]) -> None:
    for name, value in reply.items():
        setattr(asked.issuer, name, value)
    with pytest.raises(DependencyFailed):
        await asked.knows("one")
    assert asked.issuer.asked == 1


async def test_an_issuer_that_cannot_be_reached_gives_no_keys() -> None:
    async with served(Issuer()) as url:
        pass
    with pytest.raises(DependencyFailed):
        await IssuerKeys("The key set", url).decode(signed("one"), ["RS256"])


@pytest.mark.parametrize(
    "key",
    [
        published("one", use="enc"),
        published("one", alg="RS512"),
        published("one", d="AQAB"),
        published("one", n="!"),
        published("one", n=7),
        published("one", e=None),
        published("small", bits=1024) | {"kid": "one"},
        published("one") | {"kid": 7},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "one"},
        {"kty": "EC", "crv": "P-256", "x": "a", "y": "b", "kid": "one"},
        {"kid": "one"},
    ],
    ids=range(11),
)
@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
async def test_a_key_that_is_not_for_rs256_is_none(asked: Asked, key: dict[str, Any]) -> None:
    asked.issuer.keys = [key, published("two")]
    assert not await asked.knows("one")
    assert await asked.knows("two")


async def test_a_token_without_a_key_id_fits_the_only_key_of_a_set(asked: Asked) -> None:
    elliptic = generate_private_key(SECP256R1()).public_key()
    asked.issuer.keys.append({**jwt.algorithms.ECAlgorithm.to_jwk(elliptic, as_dict=True), "kid": "elliptic"})
    assert await asked.knows(None)  # that one is not for RS256
    asked.issuer.keys.append(published("two"))
    asked.clock.now += FRESH_SECONDS + 1
    assert not await asked.knows(None)
