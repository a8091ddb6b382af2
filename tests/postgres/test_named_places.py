"""Places that a question names: what is read instead of a search, and what is said of a page that there is not."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from graph.context import Context
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from graph.rows import Places
from graph.state import State
from tests.scripted_openai import ScriptedOpenAI, answer, scripted_openai
from tests.unit.pdf_files import pdf
from tools.library.ingestion import NewDocument
from tools.settings import ModelSettings, Settings

__all__ = ["scripted_openai"]

ME = Identity()
OFFICE = Path(__file__).parents[1] / "fixtures" / "documents"
FEES = [
    ["The board decides on the fees of the laboratory.", "", "Fees are due within thirty days."],
    ["A measurement costs 35 euros.", "", "A repeated measurement is free.", "", "Students pay half of all fees."],
    ["The decision takes effect on 1 July 2026."],
]
HOURS = [["The laboratory opens at seven.", "", "Keys are kept by the porter."]]
AGREEMENT = """# Service agreement

## 9. Payment

Invoices are paid within 21 days.

## 13. Liability

Liability ends at 10,000 euros. What clause 14 protects is excepted.

## 14. Confidentiality

Neither side tells others what it learns.

The duty lasts five years.

## 15. Law

The law of Denmark applies.
"""
RULES = """# Quy chế thư viện

Điều 4. Mỗi người được mượn năm cuốn sách.

Điều 5. Sách được mượn trong mười bốn ngày. Người trả muộn bị phạt hai nghìn đồng mỗi ngày.

Điều 6. Không mang đồ ăn vào phòng đọc.
"""
LABORATORY = """# 实验室安全规定

## 第一章 总则

第二条 进入实验室要穿白大褂。

第三条 离开实验室前要关闭电源。最后离开的人要锁门。

## 第二章 处罚

第四条 第一次违反规定的人要写检讨。
"""
SOFTWARE = "Python 3.2 was released in February 2011.\n\nVersion 14 of the tool needs 4 GB of memory.\n"
DECREE = [
    ["Điều 1.", "Hội đồng gồm bảy thành viên."],
    ["Điều 2.", "Hồ sơ nộp trước ngày 15 tháng 4.", "Lệ phí là 30 triệu đồng.", "Điều 3.", "Hội đồng ở phòng 204."],
]


def document_ai(pages: list[list[str]]) -> bytes:
    text, laid_out = "", []
    for paragraphs in pages:
        parts = []
        for each in paragraphs:
            ends = [{"startIndex": str(len(text)), "endIndex": str(len(text) + len(each) + 1)}]
            parts.append({"layout": {"textAnchor": {"textSegments": ends}}})
            text += f"{each}\n"
        laid_out.append({"paragraphs": parts})
    return json.dumps({"text": text, "pages": laid_out}).encode()


FILES: dict[str, bytes] = {
    "decision-2026-05-12.pdf": pdf(FEES, title="Decision of 12 May 2026 on fees"),
    "decision-2026-03-03.pdf": pdf(HOURS, title="Decision of 3 March 2026 on hours"),
    "agreement.md": AGREEMENT.encode(),
    "rules.md": RULES.encode(),
    "laboratory.md": LABORATORY.encode(),
    "software.md": SOFTWARE.encode(),
    "decree.json": document_ai(DECREE),
}


@pytest.fixture
async def citewell(settings: Settings) -> AsyncIterator[Citewell]:
    async with open_citewell(settings) as opened:
        for name, data in FILES.items():
            fields: dict[str, Any] = {"metadata": {"file_path": name}}
            await opened.library.ingestor.ingest(ME, NewDocument(data=data, name=name, **fields))
        yield opened


async def ask(citewell: Citewell, question: str, **context: Any) -> State:
    return State(**await citewell.graph.ainvoke({"question": question}, context=Context(**context)))


def told(state: State) -> str:
    return "\n".join(section["text"] for section in state.sections)


async def named(citewell: Citewell, question: str) -> Places | None:
    return await citewell.library.place_finder.find(question, ME)


async def text_of(citewell: Citewell, question: str) -> str:
    """Return the text of the places that a question is sure to name."""
    places = await named(citewell, question)
    assert places is not None, question
    texts = []
    for span in places["spans"]:
        [page] = await citewell.library.reader.read_pages([span["document_id"]], ME)
        texts.append("".join(each.text for each in page.segments)[span["start"] : span["end"]])
    return "\n".join(texts)


async def test_each_kind_of_place_is_found_whole(citewell: Citewell) -> None:
    for question, begins, ends in (
        ("What does page 2 of the decision of 12 May say?", "A measurement", "of all fees."),
        ("What does clause 14 say?", "14. Confidentiality", "five years."),
        ("Điều 5 nói gì?", "Điều 5.", "mỗi ngày."),
        ("第3条说什么？", "第三条", "锁门。"),
        ("第一章讲什么？", "第一章", "锁门。"),
        ("Điều 2 nói gì?", "Điều 2.", "30 triệu đồng."),
    ):
        text = (await text_of(citewell, question)).strip()
        assert (text.startswith(begins), text.endswith(ends)) == (True, True), (question, text)


async def test_what_stands_in_a_place_is_shown_in_its_order(citewell: Citewell) -> None:
    for question, shown, hidden in (
        ("What does page 2 of the decision of 12 May say?", ["35 euros", "free", "half"], "thirty"),
        ("What does clause 14 say?", ["tells others", "five years"], "Denmark"),
        ("Trang 2 của decree.json nói gì?", ["Điều 2", "15 tháng 4", "30 triệu"], "bảy"),
        ("第三条说什么？", ["关闭电源", "锁门"], "白大褂"),
    ):
        state = await ask(citewell, question)
        places = [told(state).find(each) for each in shown]
        assert state.outcome == "answered", question
        assert [-1, *places] == sorted({-1, *places}), (question, told(state))
        assert hidden not in told(state), question


async def test_the_rest_of_the_question_chooses_within_the_place(citewell: Citewell) -> None:
    state = await ask(citewell, "How long does the duty of clause 14 last?")
    assert "five years" in told(state)
    assert {source["segment_id"].rpartition(":")[0] for source in state.sources} == {
        (await named(citewell, "What does clause 14 say?") or {"spans": []})["spans"][0]["document_id"]
    }


async def test_several_places_are_read_together(citewell: Citewell) -> None:
    text = await text_of(citewell, "Điều 4 và Điều 6 nói gì?")
    assert ["năm cuốn" in text, "đồ ăn" in text, "mười bốn" in text] == [True, True, False]
    assert await named(citewell, "How do Điều 4 and Điều 44 differ in the number of books?") is None


async def test_a_number_that_is_no_place_narrows_nothing(citewell: Citewell) -> None:
    for question, said in (
        ("When was Python 3.2 released?", "February 2011"),
        ("How much memory does version 14 of the tool need?", "4 GB"),
        ("Within how many days are invoices paid?", "21 days"),
    ):
        places = await named(citewell, question)
        assert places is None
        assert said in told(await ask(citewell, question)), question


async def test_a_document_is_named_by_its_file_or_its_date(citewell: Citewell) -> None:
    for question, title in (
        ("What does agreement.md say about Denmark?", "Service agreement"),
        ("What does decision-2026-05-12 say about students?", "Decision of 12 May 2026 on fees"),
        ("Who keeps the keys by the decision of 3 March?", "Decision of 3 March 2026 on hours"),
    ):
        places = await named(citewell, question)
        assert places is not None
        [page] = await citewell.library.reader.read_pages(places["documents"], ME)
        assert page.title == title


async def test_a_page_is_named_by_its_label(citewell: Citewell) -> None:
    ingestor = citewell.library.ingestor
    for odd in (7, {"iv": 1}, [4, None, "A-3"]):
        await ingestor.ingest(ME, NewDocument(text=str(odd), metadata={"page_labels": odd}))
    labels = {"page_labels": ["ii", "A-3", "1"]}
    await ingestor.ingest(ME, NewDocument(data=pdf(FEES, title="Fees"), name="fees.pdf", metadata=labels))
    assert (await text_of(citewell, "What does page A-3 say?")).strip().startswith("A measurement")
    assert "thirty days" in await text_of(citewell, "第ii页说了什么？")
    assert await named(citewell, "What does page iv say?") is None


async def test_slides_and_sheets_are_named_as_their_files_call_them(citewell: Citewell) -> None:
    ingestor = citewell.library.ingestor
    for name in ("halls.pptx", "prices.xlsx"):
        data = (OFFICE / name).read_bytes()
        await ingestor.ingest(ME, NewDocument(data=data, name=name, metadata={"file_path": name}))
    for question, slide, sheet in (
        ("What does slide 1 say?", True, False),
        ("What does sheet 1 say?", False, True),
        ("Was steht auf Folie 1 von halls.pptx?", True, False),
    ):
        text = await text_of(citewell, question)
        assert ("a keeper" in text, "wick" in text) == (slide, sheet), question
    assert await named(citewell, "What does rule 1 say?") is None


async def test_a_page_that_there_is_not_is_told_with_the_last_one(citewell: Citewell) -> None:
    for question, title, pages in (
        ("What does page 9 of the decision of 12 May say?", "Decision of 12 May 2026 on fees", 3),
        ("Trang 7 của decree.json nói gì?", "decree", 2),
        ("第九页说什么？", "", 3),
    ):
        state = await ask(citewell, question)
        assert (state.outcome, state.sources, state.candidates) == ("abstained", [], []), question
        missing = (state.refusal or {}).get("missing_page")
        assert missing is not None
        assert (missing["title"], missing["pages"]) == (title, pages)
        assert str(pages) in told(state)


async def test_a_model_is_not_asked_for_a_page_that_there_is_not(
    settings: Settings, scripted_openai: ScriptedOpenAI, citewell: Citewell
) -> None:
    model = ModelSettings(name="scripted", base_url=scripted_openai.base_url, model="any")
    async with open_citewell(settings.model_copy(update={"models": [model], "default_model": "scripted"})) as modelled:
        state = await ask(modelled, "What does page 9 of the decision of 12 May say?", model="scripted", web="fallback")
        assert (state.outcome, state.spent.get("generate_answer")) == ("abstained", None)
        scripted_openai.script(answer({"text": "Others are told nothing.", "source_ids": []}), to="generate_answer")
        await ask(modelled, "What does clause 14 say?", model="scripted")
        context = str(scripted_openai.asked("generate_answer")[-1].body)
        assert [each in context for each in ("five years", "Denmark", "10,000")] == [True, False, False]


async def test_a_place_of_what_one_may_not_read_is_none(citewell: Citewell) -> None:
    assert await citewell.library.place_finder.find("What does clause 14 say?", Identity(spaces=("other",))) is None
