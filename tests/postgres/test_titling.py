"""Sessions that are titled by themselves: once, beside their first run, and never over a name that somebody chose."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from graph.context import Context
from graph.errors import DependencyFailed, NotFound
from graph.evidence import ModelUse, Spent
from graph.ports import Families, Family, Titler
from graph.usage import Meter
from tests.entering import entered, entered_titled
from tests.fakes import spend_tokens
from tests.postgres.conversing import ME
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import extractive_family
from tools.sessions.session_store import Sessions
from tools.sessions.titles import SessionTitler
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

QUESTION = "How long is the notice period?"


@dataclass
class HeldTitler:
    """Gives its title when the test releases it; fails where it has none."""

    title_given: str | None = "Notice"
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def title(self, question: str, *, language: str, meter: Meter) -> str:
        meter.call()
        spend_tokens(meter, 7)
        self.asked.set()
        await self.released.wait()
        if self.title_given is None:
            raise DependencyFailed("The model fell over.")
        return self.title_given


def families(titler: Titler | None) -> Families:
    family: Family = replace(extractive_family(checker=CodeChecker()), titler=titler)
    return lambda model, *, thinking=False: family


def released(title: str | None = "Notice") -> HeldTitler:
    titler = HeldTitler(title)
    titler.released.set()
    return titler


@pytest.fixture
def sessions(database: Database) -> Sessions:
    return Sessions(database, Workspaces(database), families(released()))


async def title_of(sessions: Sessions, session_id: str) -> str:
    return (await sessions.get(ME, session_id)).session.title


async def test_the_first_question_gives_the_title(sessions: Sessions, database: Database) -> None:
    session_id = (await sessions.create(ME)).session_id
    titling = SessionTitler(database, families(released()))
    given = await titling.title_session(session_id, QUESTION, Context())
    assert given is not None
    assert given[0] == await title_of(sessions, session_id) == "Notice"
    used = ModelUse(calls=1, input_tokens=7, cached_tokens=0, output_tokens=0, estimated_calls=0)
    assert given[1] == Spent(calls=1, tokens=7, ms=given[1]["ms"], models={"scripted": used})
    assert await titling.title_session(session_id, "And then?", Context()) is None


async def test_who_renames_meanwhile_wins(sessions: Sessions, database: Database) -> None:
    session_id = (await sessions.create(ME)).session_id
    titler = HeldTitler()
    titling = asyncio.create_task(
        SessionTitler(database, families(titler)).title_session(session_id, QUESTION, Context())
    )
    await titler.asked.wait()
    await sessions.change(ME, session_id, title="My own")
    titler.released.set()
    assert await titling is None
    assert await title_of(sessions, session_id) == "My own"


async def test_a_model_that_fails_leaves_the_questions_own_words(sessions: Sessions, database: Database) -> None:
    session_id = (await sessions.create(ME)).session_id
    given = await SessionTitler(database, families(released(None))).title_session(session_id, QUESTION, Context())
    assert given is not None
    assert given[0] == await title_of(sessions, session_id) == QUESTION


async def test_a_title_that_takes_no_model_is_set_as_the_first_run_is_entered(
    sessions: Sessions, database: Database
) -> None:
    fresh, renamed, later, ephemeral = [
        (await sessions.create(ME, ephemeral=each)).session_id for each in (False, False, False, True)
    ]
    await sessions.change(ME, renamed, title="My own")
    titled = {
        session_id: (await entered_titled(database, session_id, QUESTION, title=title))[1]
        for session_id, title in ((fresh, "Notice"), (renamed, "Notice"), (later, None), (ephemeral, "Notice"))
    }
    assert titled == {fresh: "now", renamed: "before", later: "not yet", ephemeral: "before"}
    assert [await title_of(sessions, each) for each in titled] == ["Notice", "My own", "New Chat", "New Chat"]


async def test_ephemeral_sessions_and_those_of_others_stay_untitled(sessions: Sessions, database: Database) -> None:
    titling = SessionTitler(database, families(released()))
    ephemeral = (await sessions.create(ME, ephemeral=True)).session_id
    mine = (await sessions.create(ME)).session_id
    assert await titling.title_session(ephemeral, QUESTION, Context()) is None
    assert await titling.title_session(mine, QUESTION, Context(user="stranger")) is None
    assert await SessionTitler(database, families(None)).title_session(mine, QUESTION, Context()) is None
    assert await title_of(sessions, mine) == "New Chat"


async def test_a_title_on_request_needs_no_answer_yet(sessions: Sessions, database: Database) -> None:
    session_id = (await sessions.create(ME)).session_id
    assert await sessions.auto_title(ME, session_id) == "New Chat"
    await entered(database, session_id, QUESTION)
    both = await asyncio.gather(*(sessions.auto_title(ME, session_id) for _ in range(2)))
    assert both == ["Notice", "Notice"]
    await sessions.change(ME, session_id, title="My own")
    assert await sessions.auto_title(ME, session_id) == "My own"
    with pytest.raises(NotFound):
        await sessions.auto_title(ME, "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a01")
