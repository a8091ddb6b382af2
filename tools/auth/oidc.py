"""Log in by OpenID Connect: the authorization code flow with PKCE against one issuer, by Authlib.

The issuer's discovery document and keys are cached. An ID token counts only with an asymmetric signature, for this
client, from this issuer, with the nonce of this login, and within its time.
"""

import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx2
from authlib.common.urls import add_params_to_uri
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import ClaimError, ExpiredTokenError, JoseError
from pydantic import BaseModel, field_validator

from graph.errors import ConfigurationError, IssuerUnavailable, LoginFailed, NotAuthenticated, NotPermitted
from tools.auth.identities import Grant, checked_grant
from tools.auth.issuer_documents import (
    FETCH_SECONDS,
    LONGEST_TOKEN,
    Clock,
    IssuerDocument,
    IssuerKeys,
    is_secure,
    secure_url,
)
from tools.auth.tokens import INVALID, LEEWAY_SECONDS, LONGEST_TOKEN_ID
from tools.settings import AuthSettings, OidcSettings

log = logging.getLogger("citewell.identity")

DISCOVERY_PATH = "/.well-known/openid-configuration"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
SECRET_BYTES = 32  # of state, nonce and verifier
LONGEST_NAME = 200
NAME_CLAIMS = ("name", "preferred_username", "email")  # the first that is there is shown to the person
# The issuer knows us no more, or never did; nobody can log in until that is mended.
CLIENT_FAULTS = frozenset({"invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope"})
CHECK_CLIENT = "Check CITEWELL_OIDC__CLIENT_ID, CITEWELL_OIDC__CLIENT_SECRET and the client's registration."


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a browser keeps between its departure to the issuer and its return."""

    state: str
    nonce: str
    code_verifier: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the issuer has identified: what they may do, and the name that they are shown."""

    grant: Grant
    name: str
    id_token: str


class _Provider(BaseModel):
    """The discovery document (OpenID Connect Discovery 1.0, 3), as far as it matters here."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None
    id_token_signing_alg_values_supported: list[str] = ["RS256"]
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]
    authorization_response_iss_parameter_supported: bool = False

    @field_validator("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint")
    @classmethod
    def _secure(cls, value: str | None) -> str | None:
        if value is not None and not is_secure(value):
            raise ValueError("an endpoint is neither https nor on this machine")
        return value

    @property
    def algorithms(self) -> list[str]:
        return [name for name in ALGORITHMS if name in self.id_token_signing_alg_values_supported]


class RelyingParty:
    """Citewell as a client of its issuer. Keep it for the life of the process: it caches the issuer's documents."""

    def __init__(self, settings: OidcSettings, auth: AuthSettings, *, clock: Clock = time.monotonic) -> None:
        """Set the issuer. Raises ConfigurationError if its URL is neither https nor on this machine."""
        self._settings = settings
        self._auth = auth
        self._clock = clock
        self._issuer = secure_url("oidc.issuer", settings.issuer or "")
        url = self._issuer.rstrip("/") + DISCOVERY_PATH
        what = "The issuer's discovery document"
        self._provider = IssuerDocument(what, url, self._discovered, failure=IssuerUnavailable, clock=clock)
        self._keys: dict[str, IssuerKeys] = {}

    async def begin(self, redirect_uri: str) -> tuple[str, Attempt]:
        """Return the address to send a browser to, and what it has to keep. Raises IssuerUnavailable."""
        provider = await self._provider.read()
        attempt = Attempt(*(secrets.token_urlsafe(SECRET_BYTES) for _ in range(3)))
        async with self._client(provider) as client:
            url, _ = client.create_authorization_url(
                provider.authorization_endpoint,
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.code_verifier,
                redirect_uri=redirect_uri,
            )
        return str(url), attempt

    async def finish(self, attempt: Attempt, code: str, redirect_uri: str, *, issuer: str | None = None) -> Person:
        """Exchange a code for the person who logged in. ``issuer`` is the one that the reply names (RFC 9207).

        Raises LoginFailed if the code, the ID token or its claims are not good, IssuerUnavailable if the issuer does
        not answer, and ConfigurationError if it refuses Citewell itself.
        """
        provider = await self._provider.read()
        if issuer != self._issuer and (issuer is not None or provider.authorization_response_iss_parameter_supported):
            raise LoginFailed("The reply is not from the configured issuer.")
        async with self._client(provider) as client:
            try:
                given = await client.fetch_token(
                    provider.token_endpoint,
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=attempt.code_verifier,
                    redirect_uri=redirect_uri,
                )
            except OAuthError as error:
                raise _refusal(str(error.error)) from error
            except (httpx2.HTTPError, ValueError) as error:
                raise _unavailable("token endpoint", error) from error
            claims = await self._verified(provider, given, attempt.nonce)
            if provider.userinfo_endpoint and self._lacks(claims):
                claims = {**await _userinfo(client, provider.userinfo_endpoint, claims["sub"]), **claims}
        return Person(self._grant(claims), _shown_name(claims), str(given["id_token"]))

    async def identify(self, token: str, audiences: list[str]) -> Grant:
        """Return what an access token allows, which the issuer signed for one of these audiences (RFC 9068).

        Its claims count as those of a person who logs in. Raises NotAuthenticated, with details only if the signature
        is valid, and IssuerUnavailable.
        """
        if len(token) > LONGEST_TOKEN:
            raise NotAuthenticated(INVALID)
        required = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "values": audiences},
            exp={"essential": True},
            sub={"essential": True},
        )
        try:
            decoded = await self._decoded(await self._provider.read(), token)
            claims = decoded.claims
            required.validate(claims)
        except ClaimError as error:
            advice = f"Send a token of {self._issuer} for the audience {audiences[0]}, before it expires."
            raise NotAuthenticated(f"The token's claim {error.claim} is wrong.", suggestion=advice) from None
        except (JoseError, ValueError, RecursionError):
            raise NotAuthenticated(INVALID) from None
        kind = str(decoded.header.get("typ") or "jwt").casefold().removeprefix("application/")
        if kind not in ("at+jwt", "jwt") or "nonce" in claims or "events" in claims:  # each of our logins has a nonce
            raise NotAuthenticated("This is no access token.")
        token_id = str(claims.get("jti", ""))[:LONGEST_TOKEN_ID]
        try:
            grant = self._grant(claims)
        except LoginFailed as error:
            raise NotPermitted(error.message, suggestion=error.advice) from None
        return replace(grant, credential=f"jwt:{token_id}" if token_id else "jwt")

    async def logout_url(self, return_to: str, id_token: str | None) -> str | None:
        """Return where to send a browser to log out at the issuer too, or None where it has no such place.

        ``return_to`` has to be registered with the issuer (OpenID Connect RP-Initiated Logout 1.0).
        """
        try:
            endpoint = (await self._provider.read()).end_session_endpoint
        except IssuerUnavailable:
            return None
        if endpoint is None or not is_secure(endpoint):
            return None
        hint = {"id_token_hint": id_token} if id_token else {}
        wanted = {"client_id": self._settings.client_id, "post_logout_redirect_uri": return_to, **hint}
        return str(add_params_to_uri(endpoint, list(wanted.items())))

    def _discovered(self, body: bytes) -> _Provider:
        provider = _Provider.model_validate_json(body)
        if provider.issuer != self._issuer:
            raise ValueError(f"it names another issuer than oidc.issuer: {provider.issuer[:200]!r}")
        if not provider.algorithms:
            raise ValueError("the issuer signs by none of the algorithms that are accepted")
        return provider

    def _client(self, provider: _Provider) -> AsyncOAuth2Client:
        secret = self._settings.client_secret.get_secret_value()
        takes_basic = "client_secret_basic" in provider.token_endpoint_auth_methods_supported
        method = "client_secret_basic" if takes_basic else "client_secret_post"
        return AsyncOAuth2Client(
            client_id=self._settings.client_id,
            client_secret=secret or None,
            token_endpoint_auth_method=method if secret else "none",
            scope=self._settings.scopes,
            code_challenge_method="S256",
            timeout=FETCH_SECONDS,
        )

    async def _verified(self, provider: _Provider, given: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        """Return the claims of a good ID token (OpenID Connect Core 1.0, 3.1.3.7)."""
        token = given.get("id_token")
        if not isinstance(token, str) or len(token) > LONGEST_TOKEN:
            raise LoginFailed("The issuer sent no ID token.", suggestion="Check that CITEWELL_OIDC__SCOPES has openid.")
        try:
            decoded = await self._decoded(provider, token)
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                {
                    "iss": {"essential": True, "value": self._issuer},
                    "aud": {"essential": True, "value": self._settings.client_id},
                },
                {
                    "nonce": nonce,
                    "client_id": self._settings.client_id,
                    "access_token": given.get("access_token"),
                },
            )
            claims.validate(leeway=LEEWAY_SECONDS)
        except ExpiredTokenError:
            raise LoginFailed("The issuer's ID token has expired.", suggestion="Compare the clocks.") from None
        except ClaimError as error:
            log.warning("an ID token was refused: %s", error)
            raise LoginFailed(f"The issuer's ID token is not valid: its claim {error.claim} is wrong.") from None
        except (JoseError, ValueError, RecursionError) as error:
            log.warning("an ID token was refused: %s: %s", type(error).__name__, error)
            raise LoginFailed("The issuer's ID token is not valid: its signature or form is wrong.") from None
        return dict(claims)

    async def _decoded(self, provider: _Provider, token: str) -> jwt.Token:
        """Return a token whose signature is the issuer's. Raises JoseError, ValueError, RecursionError."""
        url = provider.jwks_uri
        keys = IssuerKeys("The issuer's key set", url, failure=IssuerUnavailable, clock=self._clock)
        return await self._keys.setdefault(url, keys).decode(token, provider.algorithms)

    def _lacks(self, claims: Mapping[str, Any]) -> bool:
        """Whether a claim that counts may be had from the user info; scopes' own claims are often only there."""
        auth = self._auth
        asked = {auth.user_claim, auth.workspace_claim, auth.groups_claim, "name", *self._settings.required_claims}
        if auth.user_claim == "email":
            asked.add("email_verified")
        return not asked <= claims.keys()

    def _grant(self, claims: Mapping[str, Any]) -> Grant:
        """Return what a person may do, by their claims."""
        auth = self._auth
        for name, allowed in self._settings.required_claims.items():
            if not set(map(str, _listed(claims.get(name)))) & set(allowed):
                raise LoginFailed(
                    f"Your claim {name} does not let you in.", suggestion="Ask whoever runs this service for access."
                )
        if auth.user_claim == "email" and claims.get("email_verified") is not True:
            # Whoever may write any address into their profile would otherwise be whom they like.
            raise LoginFailed("The issuer has not verified your email address, by which you are known here.")
        names = {"user": auth.user_claim, "workspace": auth.workspace_claim, "groups": auth.groups_claim}
        workspace = claims.get(auth.workspace_claim, auth.default_workspace)
        groups = _listed(claims.get(auth.groups_claim))
        try:
            return checked_grant(workspace, claims.get(auth.user_claim), groups)
        except ValueError as error:
            what, _, why = str(error).partition(": ")
            raise LoginFailed(
                f"Your claim {names.get(what, what)} does not name a {what}: {why}.",
                suggestion="Configure the issuer to send it, or set CITEWELL_AUTH__DEFAULT_WORKSPACE.",
            ) from None


def _refusal(code: str) -> LoginFailed | ConfigurationError:
    log.warning("the issuer refused a code: %s", code[:200])
    if code in CLIENT_FAULTS:
        return ConfigurationError(f"The issuer refuses Citewell's client: {code}.", suggestion=CHECK_CLIENT)
    return LoginFailed("The issuer refused the login's code: it was used already, or has expired.")


def _unavailable(what: str, error: Exception) -> IssuerUnavailable:
    log.warning("the issuer's %s failed: %s: %s", what, type(error).__name__, error)
    return IssuerUnavailable(f"The issuer's {what} did not answer, or not as it must.")


async def _userinfo(client: AsyncOAuth2Client, url: str, subject: str) -> dict[str, Any]:
    """Return the claims that the issuer tells of the person of an access token; they count only for the same subject.

    Raises IssuerUnavailable, and LoginFailed if they are of somebody else.
    """
    try:
        response = await client.get(url)
        response.raise_for_status()
        claims = response.json()
    except (OAuthError, httpx2.HTTPError, ValueError) as error:
        raise _unavailable("user info", error) from error
    if not isinstance(claims, dict) or claims.get("sub") != subject:
        raise LoginFailed("The issuer's user info is about somebody else.")
    return claims


def _shown_name(claims: Mapping[str, Any]) -> str:
    named = (claims.get(name) for name in NAME_CLAIMS)
    name = next((each for each in named if isinstance(each, str) and each.strip()), str(claims["sub"]))
    return "".join(character for character in name if character.isprintable())[:LONGEST_NAME]


def _listed(claim: object) -> list[object]:
    if claim is None:
        return []
    return list(claim) if isinstance(claim, Sequence) and not isinstance(claim, str) else [claim]
