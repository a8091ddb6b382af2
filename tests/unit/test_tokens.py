"""Which tokens are trusted: those of the configured issuer and algorithm, and no others, however they are made up."""

import base64
import hmac
import json
import re
import time
from collections.abc import AsyncIterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import SecretStr

from graph.errors import ConfigurationError, DependencyFailed, NotAuthenticated
from graph.evidence import Identity
from tests.api.serving import served
from tests.issuer import Issuer, claims, private_key, published, signed
from tools.auth.issuer_documents import LONGEST_TOKEN
from tools.auth.tokens import INVALID, TokenVerifier
from tools.settings import AuthSettings

SECRET = "s" * 32


def shared(**auth: Any) -> TokenVerifier:
    return TokenVerifier(AuthSettings(mode="jwt", jwt_secret=SecretStr(SECRET), **auth))


def hs256(secret: str = SECRET, headers: dict[str, Any] | None = None, **changes: Any) -> str:
    return jwt.encode(claims(**changes), secret, algorithm="HS256", headers=headers)


def unsigned(header: object, payload: bytes | None = None) -> str:
    parts = (json.dumps(header).encode(), payload or json.dumps(claims()).encode())
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."


@pytest.fixture
async def issuer() -> AsyncIterator[tuple[Issuer, str]]:
    asked = Issuer()
    async with served(asked) as url:
        yield asked, f"{url}/keys.json"


async def test_a_good_token_names_workspace_and_user() -> None:
    assert (await shared().verify(hs256(workspace="team", sub="ann"))).identity == Identity("team", "ann")


async def test_a_long_header_is_read() -> None:
    await shared().verify(hs256(headers={"x5c": ["A" * 3000]}))


async def test_other_claims_may_name_them() -> None:
    verifier = shared(workspace_claim="https://example.com/tenant", user_claim="email")
    token = hs256(**{"https://example.com/tenant": "team", "email": "ann@example.com", "sub": None})
    assert (await verifier.verify(token)).identity == Identity("team", "ann@example.com")


async def test_a_little_difference_of_clocks_is_forgiven() -> None:
    now = int(time.time())
    await shared().verify(hs256(exp=now - 10, iat=now + 10, nbf=now + 10))


NOW = int(time.time())


@pytest.mark.parametrize(
    "token",
    [
        hs256("t" * 32),
        hs256(exp=None),
        hs256(exp="soon"),
        hs256(nbf=NOW + 3600),
        hs256(iat=NOW + 3600),
        hs256(nbf="never"),
        hs256(headers={"crit": ["unheard-of"]}),
        jwt.encode(claims(), SECRET + SECRET, algorithm="HS512"),
        jwt.encode(claims(), SECRET + SECRET, algorithm="HS384"),
        signed(),
        unsigned({"alg": "none"}),
        unsigned({"alg": "None", "typ": "JWT"}),
        unsigned({"alg": "HS256"}),
        unsigned({"alg": ["HS256"]}),
        unsigned({}),
        unsigned({"alg": "HS256", "crit": 5}),
        unsigned({"alg": "HS256", "crit": [[1]]}),
        unsigned(["alg"]),
        unsigned({"alg": "HS256"}, b"[" * 5000),
        hs256()[:-1],
        hs256() + "x",
        hs256().replace(".", "", 1),
        "",
        ".",
        "..",
        "cw_" + "x" * 43,
        "\u00e9.\u00e9.\u00e9",
        hs256(padding="x" * LONGEST_TOKEN),
    ],
    ids=range(28),
)
async def test_a_token_that_is_not_good_is_refused_without_a_reason(token: str) -> None:
    with pytest.raises(NotAuthenticated) as caught:
        await shared().verify(token)
    assert caught.value.message == INVALID


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exp": NOW - 3600}, "expired"),
        ({"workspace": None}, "claim workspace"),
        ({"workspace": ""}, "claim workspace"),
        ({"workspace": 7}, "claim workspace"),
        ({"workspace": [7]}, "claim workspace"),
        ({"workspace": "x" * 101}, "claim workspace"),
        ({"workspace": "nul \x00"}, "claim workspace"),
        ({"workspace": "half \ud800"}, "claim workspace"),
        ({"sub": None}, "claim sub"),
        ({"sub": " "}, "claim sub"),
        ({"sub": "x" * 201}, "claim sub"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # no times, which differ between processes
)
async def test_what_a_well_signed_token_lacks_is_said(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(NotAuthenticated, match=message):
        await shared().verify(hs256(**changes))


async def test_issuer_and_audience_are_asked_for_where_they_are_configured() -> None:
    verifier = shared(issuer="https://id.example", audience="citewell")
    good = {"iss": "https://id.example", "aud": ["other", "citewell"]}
    await verifier.verify(hs256(**good))
    for changes in ({"iss": "https://evil.example"}, {"iss": None}, {"aud": "other"}, {"aud": None}, {"aud": 7}):
        with pytest.raises(NotAuthenticated):
            await verifier.verify(hs256(**(good | changes)))
    await shared().verify(hs256(**good))


async def test_a_key_set_verifies_rs256_alone(issuer: tuple[Issuer, str]) -> None:
    asked, url = issuer
    verifier = TokenVerifier(AuthSettings(mode="jwt", jwks_url=url))
    assert (await verifier.verify(signed(sub="bob"))).identity == Identity("default", "bob")
    public = private_key("one", 2048).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    unsealed = unsigned({"alg": "HS256", "kid": "one"}).rstrip(".")
    seal = base64.urlsafe_b64encode(hmac.digest(public, unsealed.encode(), "sha256")).rstrip(b"=").decode()
    for token in (
        f"{unsealed}.{seal}",  # the public key taken for a secret
        hs256(headers={"kid": "one"}),
        unsigned({"alg": "none", "kid": "one"}),
        signed("two"),
        jwt.encode(claims(), private_key("two", 2048), algorithm="RS256", headers={"kid": "one"}),
        jwt.encode(claims(), private_key("one", 2048), algorithm="RS512", headers={"kid": "one"}),
        jwt.encode(claims(), private_key("one", 2048), algorithm="PS256", headers={"kid": "one"}),
        jwt.encode(
            claims(), private_key("two", 2048), algorithm="RS256", headers={"jwk": published("two"), "jku": url}
        ),
        unsigned({"alg": "RS256", "kid": 7}),
    ):
        with pytest.raises(NotAuthenticated, match=f"^{re.escape(INVALID)}$"):
            await verifier.verify(token)
    assert asked.asked == 1


async def test_a_key_set_out_of_reach_is_no_fault_of_the_token(issuer: tuple[Issuer, str]) -> None:
    asked, url = issuer
    asked.status = 500
    with pytest.raises(DependencyFailed):
        await TokenVerifier(AuthSettings(mode="jwt", jwks_url=url)).verify(signed())


@pytest.mark.parametrize(
    "auth",
    [
        {"jwt_secret": "short"},
        {"jwks_url": "http://id.example/keys"},
        {"jwks_url": "ftp://127.0.0.1/keys"},
        {"jwks_url": "http://127.0.0.1.evil.example/keys"},
        {"jwks_url": "keys.json"},
    ],
    ids=str,
)
def test_settings_that_could_trust_anybody_are_refused(auth: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        TokenVerifier(AuthSettings(mode="jwt", **auth))
