"""Conversations without a model, through real searches: what a follow-up takes along, and what it may not."""

from collections.abc import AsyncIterator

import pytest

from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tests.conftest import settings_over
from tests.graph.asking import Asked
from tools.library.ingestion import NewDocument
from tools.settings import Settings

LEAVE = """# Leave at Millbrook

## Sabbatical

After six years of service everyone may take a sabbatical of up to three months. Tell your team eight weeks before a
sabbatical begins. A sabbatical is not paid out to those who leave the company.

## Annual leave

Everyone has 27 days of annual leave a year. Unused days lapse at the end of March.

## Sick pay

Sick pay is full pay for the first six weeks. During probation, sick pay is limited to two weeks.
"""
HOUSE = """# The guest house

Breakfast is served from seven to ten in the winter garden and costs 14 euros. The sauna is open to all guests until
nine in the evening. Twelve lockers for skis are in the cellar, and a locker costs 2 euros a day.

Dogs may stay in the rooms of the ground floor. They are not allowed in the winter garden.
"""
BUS = """# The bus to Sula

The bus to Sula leaves at 8:10 and arrives in fifty minutes. Children pay half of the fare, and a single fare costs 6
euros. In 2024 a single fare cost 5 euros.
"""
VIETNAMESE = """# Nội quy thư viện Lam Giang

Mỗi bạn đọc được mượn tối đa năm cuốn sách trong mười bốn ngày. Sinh viên năm cuối được mượn tối đa tám cuốn sách.
"""
CHINESE = """# 清河图书馆须知

动火许可证的有效期为8小时，不得延长，到期须重新申请。许可证由安全主管签发。
"""


@pytest.fixture(scope="module")
async def library(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Citewell]:
    async with open_citewell(settings_over(shared_database_url, tmp_path_factory.mktemp("library"))) as opened:
        for place, text in enumerate((LEAVE, HOUSE, BUS, VIETNAMESE, CHINESE)):
            await opened.library.ingestor.ingest(Identity(), NewDocument(text=text, name=f"{place}.md"))
        yield opened


async def answers(library: Citewell, *questions: str) -> list[str]:
    """Return the answer to each question of a conversation, "" where it is refused."""
    asked, given = Asked(of=library.library.resources), []
    for question in questions:
        state = await asked.ask(question)
        given.append(state.sections[-1]["text"] if state.outcome == "answered" else "")
    return given


@pytest.mark.parametrize(
    ("conversation", "said"),
    [
        (("sabbatical", "and how long before should I tell my team?", "is it paid out when I leave?"), "not paid out"),
        (("sabbatical", "and how long before should I tell my team?"), "eight weeks"),
        (("How long is sick pay full pay?", "And during probation?"), "limited to two weeks"),
        (("What does breakfast cost?", "where is it served?"), "winter garden"),
        (("What does a single fare to Sula cost?", "and in 2024?"), "5 euros"),
        (("Bạn đọc được mượn tối đa bao nhiêu cuốn sách?", "Còn sinh viên năm cuối?"), "tám cuốn"),
        (("动火许可证的有效期多长？", "可以延长吗？"), "不得延长"),
    ],
)
async def test_a_conversation_goes_on(library: Citewell, conversation: tuple[str, ...], said: str) -> None:
    assert said in (await answers(library, *conversation))[-1]


@pytest.mark.parametrize(
    ("first", "unanswerable"),
    [
        ("How many lockers are there for skis?", "who painted them?"),
        ("May dogs stay in the rooms?", "what about parrots?"),
        ("What does a single fare to Sula cost?", "Is the driver insured in Norway?"),
        ("Bạn đọc được mượn tối đa bao nhiêu cuốn sách?", "Ai là giám đốc ở đó?"),
        ("动火许可证由谁签发？", "他的工资是多少？"),
    ],
)
async def test_what_the_conversation_was_about_answers_no_question_that_the_library_does_not(
    library: Citewell, first: str, unanswerable: str
) -> None:
    assert await answers(library, unanswerable) == [""]
    answered, refused = await answers(library, first, unanswerable)
    assert answered
    assert not refused


async def test_a_refused_question_does_not_spoil_the_next(library: Citewell) -> None:
    refused, alone = await answers(library, "Who won the football match in Nore?", "What about breakfast?")
    assert (refused, "seven to ten" in alone) == ("", True)
    first, refused, back = await answers(
        library, "May dogs stay in the rooms?", "Who won the football match in Nore?", "Are they allowed in the garden?"
    )
    assert first
    assert not refused
    assert "not allowed in the winter garden" in back


async def test_a_client_that_sends_the_conversation_itself_is_told_from_a_refusal(library: Citewell) -> None:
    told = Asked(of=library.library.resources)
    state = await told.ask("Who won the football match in Nore?")
    asked = Asked(of=library.library.resources)
    history = [{"question": state.asked, "standalone_question": state.asked, "answer": state.sections[-1]["text"]}]
    state = await asked.ask("What about breakfast?", history=history)
    assert state.standalone_question == "What about breakfast?"


async def test_a_short_question_about_something_else_is_answered_from_its_own_words(settings: Settings) -> None:
    rules = (
        "# Harbour rules\n\n## Speed\n\nNo boat goes faster than 3 knots inside the wall. The pilot boat is exempt.\n"
    )
    guide = "# Marina guide\n\n## Fees\n\nA boat pays 31 euros a night.\n\n## Washing\n\nThe laundry opens at eight.\n"
    async with open_citewell(settings) as opened:
        for name, text in (("rules.md", rules), ("guide.md", guide)):
            await opened.library.ingestor.ingest(Identity(), NewDocument(text=text, name=name))
        _, laundry = await answers(opened, "How fast may a boat go inside the wall?", "When does the laundry open?")
    assert "at eight" in laundry
