"""Who asks, which ``tools/auth`` proves: credentials, logins and proxies, links and shares, and the audit log."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, model_validator

from tools.settings.section import Key, Section, Unset

HEADER = r"^[A-Za-z0-9-]{1,100}$"  # an underscore is taken for a hyphen by some proxies

GroupName = Annotated[str, Field(min_length=1, max_length=200)]


class AuthSettings(Section):
    """How requests are authenticated: not at all, by an API key, a JSON Web Token of a trusted issuer, or a proxy.

    The claims are those of a token and of a person who logs in. Who has no ``workspace_claim`` at all, or comes through
    a proxy that names no workspace, belongs to ``default_workspace``; without one they are refused.
    """

    mode: Literal["none", "keys", "jwt", "proxy"] = "none"
    jwt_secret: SecretStr = SecretStr("")
    jwks_url: str | None = None
    issuer: str | None = None
    audience: str | None = None
    workspace_claim: Annotated[str, Field(min_length=1)] = "workspace"
    default_workspace: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    user_claim: Annotated[str, Field(min_length=1)] = "sub"
    groups_claim: Annotated[str, Field(min_length=1)] = "groups"

    @model_validator(mode="after")
    def _one_way(self) -> "AuthSettings":
        if self.mode == "jwt" and bool(self.jwt_secret.get_secret_value()) == bool(self.jwks_url):
            raise ValueError("auth: mode jwt needs either auth.jwt_secret (HS256) or auth.jwks_url (RS256)")
        return self


class OidcSettings(Section):
    """How people log in to the page: by an issuer of OpenID Connect, off without ``issuer``.

    Claims are read from the ID token, or else from the issuer's user info. ``required_claims`` are claims that a person
    needs, each with the values of which one suffices. A login ends ``idle_seconds`` after its last request, and in any
    case after ``longest_seconds``.
    """

    issuer: str | None = None
    client_id: str = ""
    client_secret: SecretStr = SecretStr("")
    scopes: str = "openid profile email"
    required_claims: dict[str, list[str]] = {}
    idle_seconds: Annotated[float, Field(ge=60, le=31_536_000)] = 28_800.0
    longest_seconds: Annotated[float, Field(ge=60, le=31_536_000)] = 86_400.0

    @model_validator(mode="after")
    def _complete(self) -> "OidcSettings":
        if self.issuer and not self.client_id:
            raise ValueError("oidc.client_id is required with oidc.issuer, which hands it out")
        if "openid" not in self.scopes.split():
            raise ValueError("oidc.scopes: one of them has to be openid, or the issuer sends no ID token")
        return self


class AuthProxySettings(Section):
    """The headers in which ``http.trusted_proxies`` say who a request is from; with a ``secret`` they send it too."""

    user_header: Annotated[str, Field(pattern=HEADER)] = "X-Forwarded-User"
    groups_header: Annotated[str, Field(pattern=HEADER)] = "X-Forwarded-Groups"
    workspace_header: Annotated[str, Field(pattern=HEADER)] | None = None
    secret: Key = SecretStr("")


class AuditSettings(Section):
    """The audit log, which holds no text, except questions with ``questions``.

    Entries are kept for ``keep_days``, and none are made where that is 0. Without it they are made where requests are
    authenticated, and kept for 90 days.
    """

    questions: bool = False
    keep_days: Annotated[int | None, Field(ge=0, le=3650), Unset] = None


class LinkSettings(Section):
    """Links to documents, where requests are authenticated: how many days they last.

    With 0 days links are not signed, and open only with credentials.
    """

    days: Annotated[int, Field(ge=0, le=3650)] = 30


class ShareSettings(Section):
    """Sharing of sessions and answers by links that end: how long at most, and whether anybody may open them.

    With 0 days nothing can be shared, and what was shared no longer opens.
    """

    longest_days: Annotated[int, Field(ge=0, le=365)] = 30
    public: bool = False
