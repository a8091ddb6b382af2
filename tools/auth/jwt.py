"""JSON Web Tokens: verify the identity that a trusted issuer signed.

The deployment sets the algorithm: HS256 with a shared secret, RS256 with the URL of a key set. A token's header selects
a key of that set, and nothing else.
"""

from collections.abc import Awaitable, Callable

import jwt

from graph.errors import ConfigurationError, NotAuthenticated
from graph.evidence import Identity
from tools.auth.identities import checked_identity
from tools.auth.jwks import KeySet
from tools.settings import AuthSettings

LONGEST_TOKEN = 16_384
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

    async def verify(self, token: str) -> Identity:
        """Return the identity that a token names.

        The token must be signed by the configured algorithm, have an expiry, be valid now (with 30 seconds of leeway),
        name the configured issuer and audience, and name the workspace and the user in its claims.

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
        return self._identity(claims)

    def _identity(self, claims: dict[str, object]) -> Identity:
        names = {"workspace": self._auth.workspace_claim, "user": self._auth.user_claim}
        try:
            return checked_identity(claims.get(names["workspace"]), claims.get(names["user"]))
        except ValueError as error:
            what, _, why = str(error).partition(": ")
            message = f"The token's claim {names[what]} does not name a {what}: {why}."
            raise NotAuthenticated(message, suggestion="Configure the issuer to put it into the token.") from None


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
