"""Issuers of tokens and of logins, on loopback: keys of their own, and a record of what they were asked."""

import hashlib
import json
import secrets
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tools.settings import AuthSettings, OidcSettings, Settings


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
    """Give claims that are good for a day, for a run of all tests makes them at its start; None takes one out."""
    good = {"workspace": "default", "sub": "ann", "exp": int(time.time()) + 86_400}
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


CLIENT = "citewell"
CLIENT_SECRET = "the issuer gave it out"
KEPT_CLAIMS = ("sub", "aud", "iss", "iat", "exp", "nonce")


@dataclass
class LoginIssuer:
    """An issuer by which people log in, at once and without being asked: as ``person``, by RS256 with the key ``kid``.

    ``claims`` replace those of an ID token, or take them out where they are None; ``thin`` leaves all but what must be
    there to the user info. ``sign`` makes another token of the claims. While it is ``down`` everything answers 500.
    """

    url: str = ""
    person: dict[str, Any] = field(
        default_factory=lambda: {"sub": "ann", "name": "Ann Lee", "workspace": "default", "groups": ["staff"]}
    )
    claims: dict[str, Any] = field(default_factory=dict)
    kid: str = "one"
    keys: list[dict[str, Any]] = field(default_factory=lambda: [published("one")])
    sign: Callable[[dict[str, Any]], str] | None = None
    thin: bool = False
    down: bool = False
    names_itself: bool = False
    discovery: dict[str, Any] = field(default_factory=dict)
    refusal: str | None = None
    departed: list[dict[str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    logged_out: list[dict[str, str]] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/keys", self._published),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/userinfo", self._userinfo),
                Route("/register", self._register, methods=["POST"]),
                Route("/logout", self._logout),
            ]
        )(scope, receive, send)

    def _answer(self, request: Request, body: Any, status: int = 200) -> Response:
        self.asked.append(request.url.path)
        return Response(status_code=500) if self.down else JSONResponse(body, status)

    async def _discovery(self, request: Request) -> Response:
        places = {"authorization": "authorize", "token": "token", "userinfo": "userinfo", "end_session": "logout"}
        described = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            "authorization_response_iss_parameter_supported": self.names_itself,
            **{f"{name}_endpoint": f"{self.url}/{path}" for name, path in places.items()},
        }
        return self._answer(request, described | self.discovery)

    async def _published(self, request: Request) -> Response:
        return self._answer(request, {"keys": self.keys})

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        assert (asked["client_id"], asked["response_type"]) == (CLIENT, "code")
        assert asked["code_challenge_method"] == "S256"
        self.departed.append(asked)
        code = secrets.token_urlsafe()
        self._codes[code] = asked
        reply = {"state": asked["state"], **({"iss": self.url} if self.names_itself else {})}
        reply |= {"error": self.refusal} if self.refusal else {"code": code}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(reply)}")

    async def _token(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        sent = {name: values[0] for name, values in form.items()}
        credentials = b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
        asked = self._codes.pop(sent["code"], None)
        for_another = asked is not None and "resource" in asked
        if not for_another and request.headers.get("authorization") != f"Basic {credentials}":
            return self._answer(request, {"error": "invalid_client"}, 401)
        challenge = urlsafe_b64encode(hashlib.sha256(sent["code_verifier"].encode()).digest()).decode().rstrip("=")
        if asked is None or challenge != asked["code_challenge"] or sent["redirect_uri"] != asked["redirect_uri"]:
            return self._answer(request, {"error": "invalid_grant"}, 400)
        now = int(time.time())
        told = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": asked.get("nonce"), **self.person}
        if self.thin:
            told = {name: value for name, value in told.items() if name in KEPT_CLAIMS}
        told = {name: value for name, value in (told | self.claims).items() if value is not None}
        sign = self.sign or (lambda each: jwt.encode(each, private_key(self.kid, 2048), "RS256", {"kid": self.kid}))
        access = self.access_token(asked["resource"]) if for_another else "opaque"
        return self._answer(request, {"access_token": access, "token_type": "Bearer", "id_token": sign(told)})

    def access_token(self, audience: str, **changes: Any) -> str:
        """Sign an access token of the person for another service; None takes a claim out."""
        now = int(time.time())
        told = {"iss": self.url, "aud": audience, "iat": now, "exp": now + 60, **self.person} | changes
        told = {name: value for name, value in told.items() if value is not None}
        return jwt.encode(told, private_key(self.kid, 2048), "RS256", {"kid": self.kid})

    async def _register(self, request: Request) -> Response:
        """Register a client as RFC 7591 has it: a public one, which proves its codes by PKCE alone."""
        asked = await request.json()
        registered = {
            "client_id": CLIENT,
            "redirect_uris": asked["redirect_uris"],
            "token_endpoint_auth_method": "none",
        }
        return self._answer(request, registered, 201)

    async def _userinfo(self, request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer opaque"
        return self._answer(request, self.person)

    async def _logout(self, request: Request) -> Response:
        self.logged_out.append(dict(request.query_params))
        return RedirectResponse(request.query_params["post_logout_redirect_uri"])


def by_login(
    settings: Settings, issuer: LoginIssuer, *, claims: Mapping[str, Any] = MappingProxyType({}), **changes: Any
) -> Settings:
    """Settings of a deployment in which people log in by the issuer, and programs have keys."""
    secret = SecretStr(CLIENT_SECRET)
    oidc = OidcSettings(issuer=issuer.url, client_id=CLIENT, client_secret=secret, **changes)
    return settings.model_copy(update={"auth": AuthSettings(mode="keys", **claims), "oidc": oidc})
