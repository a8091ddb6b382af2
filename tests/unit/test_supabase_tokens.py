"""Tokens as Supabase signs them: who they name, and what no token gets by accident."""

import time
from typing import Any

import jwt
import pytest
from pydantic import SecretStr

from graph.errors import NotAuthenticated
from graph.evidence import Identity
from tools.auth.tokens import TokenVerifier
from tools.settings import AuthSettings

SECRET = "super-secret-jwt-token-with-at-least-32-characters-long"
ISSUER = "https://project.supabase.co/auth/v1"
USER = "3f0c5b1e-8f0e-4a57-9c2b-6f6f0f8f1c01"
CLAIMS: dict[str, Any] = {
    "iss": ISSUER, "aud": "authenticated", "role": "authenticated", "sub": USER, "email": "ann@example.com",
    "session_id": "5c0e7c1a-0d4e-4c5b-8d1e-2f3a4b5c6d7e", "aal": "aal1", "is_anonymous": False,
    "app_metadata": {"provider": "email"}, "user_metadata": {"workspace": "another"},
}  # fmt: skip


def verifier(**settings: Any) -> TokenVerifier:
    known = {"mode": "jwt", "jwt_secret": SecretStr(SECRET), "issuer": ISSUER, "audience": "authenticated"}
    return TokenVerifier(AuthSettings(**known | settings))


def token(**claims: Any) -> str:
    named = {name: value for name, value in (CLAIMS | claims).items() if value is not None}
    return jwt.encode({"exp": time.time() + 3600, "iat": time.time(), **named}, SECRET, "HS256")


async def test_its_users_are_those_of_the_default_workspace() -> None:
    assert (await verifier(default_workspace="notes").verify(token())).identity == Identity("notes", USER)


async def test_without_a_default_no_workspace_is_made_up() -> None:
    with pytest.raises(NotAuthenticated, match="claim workspace "):
        await verifier().verify(token())


async def test_a_workspace_in_the_token_counts() -> None:
    assert (await verifier(default_workspace="notes").verify(token(workspace="acme"))).identity == Identity(
        "acme", USER
    )


async def test_a_list_of_workspaces_allows_each_of_them_the_first_by_default() -> None:
    grant = await verifier().verify(token(workspace=["acme", "notes", "acme"]))
    assert (grant.identity, grant.workspaces) == (Identity("acme", USER), ("acme", "notes"))
    assert [grant.allows(name) for name in ("acme", "notes", "other")] == [True, True, False]


@pytest.mark.parametrize("workspace", ["", " ", 7, [], ["acme", ""], ["acme", ["notes"]], ["a"] * 101, {}, False])
async def test_a_workspace_that_is_no_name_is_never_replaced_by_the_default(workspace: object) -> None:
    with pytest.raises(NotAuthenticated, match="not name a workspace"):
        await verifier(default_workspace="notes").verify(token(workspace=workspace))


@pytest.mark.parametrize("claims", [{"sub": None, "role": "anon", "aud": None}, {"sub": None, "role": "service_role"}])
async def test_the_keys_of_a_project_name_no_user(claims: dict[str, Any]) -> None:
    with pytest.raises(NotAuthenticated):
        await verifier(default_workspace="notes").verify(token(**claims))


async def test_another_audience_or_project_is_refused() -> None:
    for claims in ({"aud": "anon"}, {"iss": "https://other.supabase.co/auth/v1"}):
        with pytest.raises(NotAuthenticated, match="not valid"):
            await verifier(default_workspace="notes").verify(token(**claims))
