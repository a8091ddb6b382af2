"""JSON Web Tokens: verify who asks, as signed by an issuer that this deployment trusts.

The algorithm is the deployment's: HS256 where it has a secret, RS256 where it has the address of a key set. A token's
header chooses among the keys of that set, and nothing else.
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
    """Verifies tokens. Keep it for the life of the process: it remembers the issuer's keys."""

    def __init__(self, auth: AuthSettings) -> None:
        """Take the settings as they stand. Raises ConfigurationError where no token could be trusted by them."""
        self._auth = auth
        self._algorithm = "HS256" if auth.jwks_url is None else "RS256"
        self._find_key: FindKey = _shared(auth) if auth.jwks_url is None else _published(KeySet(auth.jwks_url))
        self._required = ["exp"] + ["iss"] * (auth.issuer is not None) + ["aud"] * (auth.audience is not None)

    async def verify(self, token: str) -> Identity:
        """Give whom a token stands for.

        It has to be signed by the configured algorithm, to expire, and to be valid now, give or take 30 seconds; it
        names the configured issuer and audience, and in its claims the workspace and the user.

        Raises NotAuthenticated, which says more than that the token is not valid only where its signature is, and
        DependencyFailed where the issuer's keys can't be fetched.
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
            raise NotAuthenticated(message, suggestion="Let the issuer put it into the token.") from None


def _shared(auth: AuthSettings) -> FindKey:
    secret = auth.jwt_secret.get_secret_value().encode()
    if len(secret) < LEAST_SECRET_BYTES:
        raise ConfigurationError(
            f"auth.jwt_secret has {len(secret)} bytes, and a secret of HS256 has at least {LEAST_SECRET_BYTES}.",
            suggestion="Make one with `openssl rand -hex 32`, and give it to the issuer of the tokens too.",
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
