"""JSON Web Tokens of a trusted issuer, verified by its public keys (JWKS), which are fetched when needed and cached."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import jwt
from pydantic import BaseModel

from graph.errors import ConfigurationError, NotAuthenticated
from tools.auth.identities import ORDINARY, Grant, Rights, checked_grant, checked_scopes, checked_spaces
from tools.auth.issuer_documents import Clock, IssuerDocument, secure_url
from tools.settings import AuthSettings

log = logging.getLogger("citewell.identity")

LEAST_BITS = 2048  # RFC 7518, 3.3


class _Published(BaseModel):
    keys: list[dict[str, object]]


class KeySet:
    """The RSA keys that an issuer publishes at one address."""

    def __init__(self, url: str, *, clock: Clock = time.monotonic) -> None:
        """Set the URL. Raises ConfigurationError if it is neither https nor loopback: keys could be tampered with."""
        secure_url("auth.jwks_url", url)
        self._document = IssuerDocument("The key set of the tokens' issuer", url, _usable, clock=clock)

    async def find(self, kid: str | None) -> jwt.PyJWK | None:
        """Return the key with an id, or None; a token without an id matches the key of a set that has only one.

        Raises DependencyFailed if no keys are cached and none can be fetched.
        """
        return _pick(await self._document.read(lacks=lambda keys: _pick(keys, kid) is None), kid)


def _pick(keys: dict[str | None, jwt.PyJWK], kid: str | None) -> jwt.PyJWK | None:
    if kid is None and len(keys) == 1:
        return next(iter(keys.values()))
    return keys.get(kid)


def _usable(body: bytes) -> dict[str | None, jwt.PyJWK]:
    """Return the keys for RS256 by id; skip secrets and private keys that were published by mistake."""
    usable: dict[str | None, jwt.PyJWK] = {}
    for key in _Published.model_validate_json(body).keys:
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


SCOPE_CLAIM, SPACE_CLAIM = (
    "citewell_scopes",
    "citewell_spaces",
)  # ours, so that no other claim is taken for one
LONGEST_TOKEN = 16_384
LONGEST_TOKEN_ID = 200
LEEWAY_SECONDS = 30
LEAST_SECRET_BYTES = 32  # RFC 7518, 3.2: a key of the hash's own size or larger
INVALID = "The token is not valid."

FindKey = Callable[[str], Awaitable[jwt.PyJWK | bytes]]


class TokenVerifier:
    """A token verifier. Keep it for the life of the process: it caches the issuer's keys."""

    def __init__(self, auth: AuthSettings) -> None:
        """Set up the algorithm and the key. Raises ConfigurationError if the secret or the URL is not secure."""
        self._auth = auth
        self._algorithm = "HS256" if auth.jwks_url is None else "RS256"
        self._find_key: FindKey = _shared(auth) if auth.jwks_url is None else _published(KeySet(auth.jwks_url))
        self._required = ["exp"] + ["iss"] * (auth.issuer is not None) + ["aud"] * (auth.audience is not None)

    async def verify(self, token: str) -> Grant:
        """Return what a token allows: its user, in the workspace that it names or in each one of a list.

        The token must be signed by the configured algorithm, have an expiry, be valid now (with 30 seconds of leeway),
        name the configured issuer and audience, and name the user and, unless there is a default, the workspace in its
        claims; it may name groups of the user.

        Raises NotAuthenticated, with a detailed message only if the signature is valid, and DependencyFailed if the
        issuer's keys can't be fetched.
        """
        if len(token) > LONGEST_TOKEN:
            raise NotAuthenticated(INVALID)
        try:
            claims = jwt.decode(
                token,
                await self._find_key(token),
                algorithms=[self._algorithm],
                issuer=self._auth.issuer,
                audience=self._auth.audience,
                leeway=LEEWAY_SECONDS,
                options={
                    "require": self._required,
                    "verify_iss": self._auth.issuer is not None,
                    "verify_aud": self._auth.audience is not None,
                },
            )
        except jwt.ExpiredSignatureError:
            raise NotAuthenticated("The token has expired.", suggestion="Send a new one.") from None
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise NotAuthenticated(INVALID) from None
        return self._grant(claims)

    def _grant(self, claims: dict[str, object]) -> Grant:
        names = {
            "workspace": self._auth.workspace_claim,
            "user": self._auth.user_claim,
            "groups": self._auth.groups_claim,
        }
        # A claim that is there counts, whatever it holds: only a token that names no workspace gets the default.
        workspace = claims.get(names["workspace"], self._auth.default_workspace)
        try:
            grant = checked_grant(workspace, claims.get(names["user"]), claims.get(names["groups"]))
        except ValueError as error:
            what, _, why = str(error).partition(": ")
            named = "groups" if what == "groups" else f"a {what}"
            message = f"The token's claim {names[what]} does not name {named}: {why}."
            raise NotAuthenticated(message, suggestion="Configure the issuer to put it into the token.") from None
        rights = {name: self._rights(claims, name) for name in grant.workspaces or ()}
        token_id = claims.get("jti")
        return replace(
            grant,
            rights_by_workspace=rights,
            credential=f"jwt:{token_id[:LONGEST_TOKEN_ID]}" if isinstance(token_id, str) else "jwt",
        )

    def _rights(self, claims: dict[str, object], workspace: str) -> Rights:
        """Return what the claims allow in a workspace; a claim that is an object says it for each workspace."""
        scopes, spaces = ORDINARY, None
        if (claim := SCOPE_CLAIM) in claims:
            scopes = checked_scopes(_of_workspace(claims[claim], workspace))
        if (claim := SPACE_CLAIM) in claims:
            named = _of_workspace(claims[claim], workspace)
            try:
                spaces = () if named is None else checked_spaces(named)
            except ValueError as error:
                message = f"The token's claim {claim} does not name spaces of {workspace!r}: {error}."
                raise NotAuthenticated(message, suggestion="Leave it out for all spaces.") from None
        return Rights(scopes, spaces)


def _of_workspace(claim: object, workspace: str) -> object:
    return claim.get(workspace) if isinstance(claim, dict) else claim


def _shared(auth: AuthSettings) -> FindKey:
    secret = auth.jwt_secret.get_secret_value().encode()
    if len(secret) < LEAST_SECRET_BYTES:
        raise ConfigurationError(
            f"auth.jwt_secret has {len(secret)} bytes, but HS256 needs at least {LEAST_SECRET_BYTES}.",
            suggestion="Create one with `openssl rand -hex 32`, and configure the token issuer with it too.",
        )

    async def find(token: str) -> bytes:
        return secret

    return find


def _published(keys: KeySet) -> FindKey:
    async def find(token: str) -> jwt.PyJWK:
        kid = jwt.get_unverified_header(token).get("kid")
        key = await keys.find(kid if isinstance(kid, str) else None)
        if key is None:
            raise jwt.InvalidTokenError("no key of the issuer signed it")
        return key

    return find
