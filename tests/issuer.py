"""An issuer of tokens: keys of its own, a key set on loopback, and a count of how often that was asked for."""

import json
import time
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from starlette.types import Receive, Scope, Send


@cache
def private_key(kid: str, bits: int) -> RSAPrivateKey:
    """Make a key once in a process: that takes a while."""
    return generate_private_key(65537, bits)


def published(kid: str | None, *, bits: int = 2048, **fields: Any) -> dict[str, Any]:
    """Describe a key as a key set does."""
    key: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(private_key(str(kid), bits).public_key(), as_dict=True)
    named = {} if kid is None else {"kid": kid}
    return {**key, **named, "use": "sig", "alg": "RS256"} | fields


def claims(**changes: Any) -> dict[str, Any]:
    """Give claims that are good for a minute; None takes one out."""
    good = {"workspace": "default", "sub": "ann", "exp": int(time.time()) + 60}
    return {name: value for name, value in (good | changes).items() if value is not None}


def signed(kid: str | None = "one", **changes: Any) -> str:
    """Sign a token by RS256."""
    headers = {} if kid is None else {"kid": kid}
    return jwt.encode(claims(**changes), private_key(str(kid), 2048), algorithm="RS256", headers=headers)


@dataclass
class Issuer:
    """Serves a key set as ASGI; ``status``, ``body`` and ``headers`` take the place of a good reply."""

    keys: list[dict[str, Any]] = field(default_factory=lambda: [published("one")])
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    asked: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            while True:
                kind = (await receive())["type"]
                await send({"type": f"{kind}.complete"})
                if kind == "lifespan.shutdown":
                    return
        self.asked += 1
        body = self.body if self.body is not None else json.dumps({"keys": self.keys}).encode()
        headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
