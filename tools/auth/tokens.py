"""JSON Web Tokens of a trusted issuer, verified by its public keys (JWKS), which are fetched when needed and cached."""

from dataclasses import replace
from typing import Any

from joserfc import jwt
from joserfc.errors import ExpiredTokenError, JoseError
from joserfc.jwk import OctKey

from graph.errors import ConfigurationError, NotAuthenticated
from tools.auth.identities import ORDINARY, Grant, Rights, checked_grant, checked_scopes, checked_spaces
from tools.auth.issuer_documents import LONGEST_TOKEN, IssuerKeys, decode_token, secure_url
from tools.settings import AuthSettings

SCOPE_CLAIM, SPACE_CLAIM = "citewell_scopes", "citewell_spaces"  # ours, so that no other claim is taken for one
LONGEST_TOKEN_ID = 200
LEEWAY_SECONDS = 30
LEAST_SECRET_BYTES = 32  # RFC 7518, 3.2: a key of the hash's own size or larger
INVALID = "The token is not valid."


class TokenVerifier:
    """A token verifier. Keep it for the life of the process: it caches the issuer's keys."""

    def __init__(self, auth: AuthSettings) -> None:
        """Set up the algorithm and the key. Raises ConfigurationError if the secret or the URL is not secure."""
        self._auth = auth
        self._key: IssuerKeys | OctKey
        if auth.jwks_url is None:
            self._key = _secret(auth)
        else:
            self._key = IssuerKeys("The key set of the tokens' issuer", secure_url("auth.jwks_url", auth.jwks_url))
        named = {"iss": auth.issuer, "aud": auth.audience}
        required: dict[str, Any] = {
            name: {"essential": True, "value": said} for name, said in named.items() if said is not None
        }
        self._required = jwt.JWTClaimsRegistry(leeway=LEEWAY_SECONDS, exp={"essential": True}, **required)

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
            claims = (await self._decoded(token)).claims
            self._required.validate(claims)
        except ExpiredTokenError:
            raise NotAuthenticated("The token has expired.", suggestion="Send a new one.") from None
        except (JoseError, ValueError, RecursionError):
            raise NotAuthenticated(INVALID) from None
        return self._grant(claims)

    async def _decoded(self, token: str) -> jwt.Token:
        if isinstance(self._key, IssuerKeys):
            return await self._key.decode(token, ["RS256"])
        return decode_token(token, self._key, ["HS256"])

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


def _secret(auth: AuthSettings) -> OctKey:
    secret = auth.jwt_secret.get_secret_value().encode()
    if len(secret) < LEAST_SECRET_BYTES:
        raise ConfigurationError(
            f"auth.jwt_secret has {len(secret)} bytes, but HS256 needs at least {LEAST_SECRET_BYTES}.",
            suggestion="Create one with `openssl rand -hex 32`, and configure the token issuer with it too.",
        )
    return OctKey.import_key(secret)
