"""People log in from the page, come back to what they were at, see who they are, and log out."""

import re
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import pytest
from playwright.async_api import expect

from tests.api.serving import served
from tests.issuer import LoginIssuer, by_login
from tests.page.axe import accessible
from tests.page.browsing import Visits
from tests.page.english import english
from tests.page.sites import Site, site_of
from tools.auth.login_store import Logins
from tools.settings import Settings

REFUSED = ("status of 401",)


@pytest.fixture
async def issuer() -> AsyncIterator[LoginIssuer]:
    made = LoginIssuer()
    async with served(made) as made.url:
        yield made


@pytest.fixture
async def login_site(settings: Settings, issuer: LoginIssuer) -> AsyncIterator[Site]:
    async with site_of(by_login(settings, issuer)) as site:
        yield site


async def test_a_person_logs_in_asks_and_logs_out(chromium_page: Visits, login_site: Site, issuer: LoginIssuer) -> None:
    away = f"a request to elsewhere: GET {re.escape(issuer.url)}/(authorize|logout)"
    page = await chromium_page(f"{login_site.url}/?from=mail", faults=(*REFUSED, away))
    await expect(page.get_by_role("heading", level=1)).to_have_text(english("account.title"))
    await expect(page.get_by_label("API key")).to_be_hidden()
    await expect(page.get_by_role("navigation")).to_be_hidden()
    await accessible(page, "the login")
    log_in = page.get_by_role("button", name="Log in")
    await expect(log_in).to_be_focused()
    await log_in.click()
    who = page.get_by_role("group", name="Who is logged in")
    await expect(who).to_contain_text("Ann Lee")
    await expect(page).to_have_url(f"{login_site.url}/?from=mail")
    await page.get_by_role("textbox", name="Your question").fill("When does unused leave lapse?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    session = page.url.rpartition("/")[2]
    assert await page.evaluate("document.cookie") == ""
    await accessible(page, "a person's page")

    # The login is revoked elsewhere: the page asks again, and comes back to the session.
    logins = Logins(login_site.citewell.library.database, login_site.settings.oidc)
    assert await logins.revoke_user("ann") == 1
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await log_in.click()
    await expect(who).to_contain_text("Ann Lee")
    await expect(page).to_have_url(f"{login_site.url}/?from=mail#/sessions/{session}")
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()

    await who.get_by_role("button", name="Log out").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(english("account.title"))
    await expect(page).to_have_url(f"{login_site.url}/")
    assert [told["post_logout_redirect_uri"] for told in issuer.logged_out] == [f"{login_site.url}/"]
    assert await logins.list() == []
    assert not [cookie for cookie in await page.context.cookies() if cookie["name"].startswith("citewell")]


ASK_BY_EVENT_SOURCE = """(query) => new Promise((resolve) => {
  const told = [];
  const source = new EventSource(`/api/rag/query-stream?${new URLSearchParams({ query, conversationId: "c1" })}`);
  const close = () => { source.close(); resolve(told); };
  source.onerror = close;
  source.onmessage = ({ data }) => {
    told.push(JSON.parse(data).type);
    if (told.at(-1) === "done" || told.at(-1) === "error") close();
  };
})"""


async def test_an_event_source_of_this_origin_asks_as_whoever_logged_in(
    chromium_page: Visits, login_site: Site, issuer: LoginIssuer
) -> None:
    away = f"a request to elsewhere: GET {re.escape(issuer.url)}/authorize"
    page = await chromium_page(login_site.url, faults=(*REFUSED, away))
    query = "When does unused leave lapse?"
    assert await page.evaluate(ASK_BY_EVENT_SOURCE, query) == []
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("group", name="Who is logged in")).to_contain_text("Ann Lee")
    assert await page.evaluate(ASK_BY_EVENT_SOURCE, query) == ["connected", "content", "done"]
    async with login_site.citewell.library.database.connection() as connection:
        found = await connection.execute("SELECT external_id, \"user\" FROM sessions WHERE dialect = 'conversation'")
        assert await found.fetchall() == [("c1", "ann")]


async def test_a_login_that_fails_says_why_and_leads_back(
    chromium_page: Visits, login_site: Site, issuer: LoginIssuer
) -> None:
    away = f"a request to elsewhere: GET {re.escape(issuer.url)}/authorize"
    issuer.refusal = "access_denied"
    page = await chromium_page(login_site.url, faults=(*REFUSED, away))
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_text("access_denied")).to_be_visible()
    issuer.refusal = None
    await page.get_by_role("link", name="Log in").click()
    await expect(page.get_by_role("group", name="Who is logged in")).to_contain_text("Ann Lee")


async def test_another_sites_page_can_do_nothing_with_the_login(
    chromium_page: Visits, login_site: Site, issuer: LoginIssuer
) -> None:
    """A real browser sends what it sends, from a page of another port, which is another origin of the same site."""
    noise = (r"a request to elsewhere: (GET|POST) http://127\.0\.0\.1", "status of 403", "favicon.ico")
    page = await chromium_page(login_site.url, faults=(*REFUSED, *noise))
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("group", name="Who is logged in")).to_contain_text("Ann Lee")
    attacker = await page.context.new_page()
    asking = f"{login_site.url}/api/rag/query-stream?{urlencode({'query': 'When does unused leave lapse?'})}"
    await attacker.goto(f"{issuer.url}/keys")
    for method, url in (
        ("POST", f"{login_site.url}/api/sessions"),
        ("GET", asking),
        ("POST", f"{login_site.url}/logout"),
    ):
        sent = f"fetch('{url}', {{method: '{method}', mode: 'no-cors', credentials: 'include'}})"
        await attacker.evaluate(f"{sent}.then(() => null)")
    form = "const form = document.createElement('form'); form.method = 'post'; document.body.append(form);"
    for going in (
        f"location.href = '{asking}'",
        f"{form} form.action = '{login_site.url}/api/sessions'; form.submit()",
    ):
        await attacker.goto(f"{issuer.url}/keys")
        async with attacker.expect_navigation():
            await attacker.evaluate(going)
        await expect(attacker.get_by_text("cross_site_request")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("group", name="Who is logged in")).to_contain_text("Ann Lee")
    async with login_site.citewell.library.database.connection() as connection:
        rows = await (await connection.execute("SELECT count(*) FROM sessions")).fetchone()
    assert rows == (0,)
