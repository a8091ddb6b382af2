"""Which questions are about the library itself, in three languages, and which only look like it."""

from datetime import date
from typing import Any

import pytest

from graph.rows import Turn
from tools.rules import library_questions
from tools.rules.library_questions import after_listing, library_question


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_questions, "_today", lambda: date(2026, 3, 18))  # a Wednesday


@pytest.mark.parametrize(
    "question",
    [
        "How many documents do I have?",
        "how many files are in my library",
        "How many PDFs do we have?",
        "How many documents are there in the library?",
        "Hi! How many documents does my library contain?",
        "list my files",
        "Can you list all my documents, please?",
        "Show me the documents in my library.",
        "What documents do I have?",
        "Which files have I uploaded?",
        "What's in my library?",
        "What is in the knowledge base?",
        "How many documents do you have access to?",
        "what files can you see",
        "Which documents were recently added?",
        "my latest documents",
        "What are my newest files?",
        "Tôi có bao nhiêu tài liệu?",
        "Thư viện của tôi có bao nhiêu tài liệu?",
        "Có bao nhiêu tài liệu trong thư viện?",
        "Liệt kê các tệp của tôi",
        "Hãy liệt kê tất cả tài liệu của tôi.",
        "Tôi có những tài liệu nào?",
        "Trong thư viện có gì?",
        "Tài liệu nào mới cập nhật gần đây nhất?",
        "我有多少文档？",
        "我一共有多少个文件？",
        "资料库里有多少份文档？",
        "列出我的文件",
        "请列出我的所有文档",
        "我有哪些文件？",
        "资料库里有什么？",
        "最近更新的文档有哪些？",
    ],
)
def test_a_list_of_the_library(question: str) -> None:
    found = library_question(question)
    assert found is not None
    assert (found["asks"], found["name"]) == ("list", "")


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("what changed last week?", "2026-03-09", "2026-03-15"),
        ("What changed in my library yesterday?", "2026-03-17", "2026-03-17"),
        ("Which documents were changed since 2026-03-01?", "2026-03-01", "2026-03-18"),
        ("Which files did I upload this month?", "2026-03-01", "2026-03-18"),
        ("What did I add in the last 10 days?", "2026-03-08", "2026-03-18"),
        ("which pages were updated last month", "2026-02-01", "2026-02-28"),
        ("What's new this week?", "2026-03-16", "2026-03-18"),
        ("Tuần trước có gì thay đổi?", "2026-03-09", "2026-03-15"),
        ("Có gì mới hôm nay?", "2026-03-18", "2026-03-18"),
        ("Những tài liệu nào đã được cập nhật tuần này?", "2026-03-16", "2026-03-18"),
        ("上周有什么变化？", "2026-03-09", "2026-03-15"),
        ("昨天更新了哪些文档？", "2026-03-17", "2026-03-17"),
        ("上周有哪些文件被修改了？", "2026-03-09", "2026-03-15"),
    ],
)
def test_what_changed_in_a_time(question: str, since: str, until: str) -> None:
    found = library_question(question)
    assert found is not None
    assert (found["asks"], found["since"], found["until"]) == ("changed", since, until)


@pytest.mark.parametrize(
    ("question", "name", "is_file"),
    [
        ("where is biology-notes.pdf?", "biology-notes.pdf", True),
        ("Where can I find my file biology-notes.pdf", "biology-notes.pdf", True),
        ("Where is “Travel policy”?", "Travel policy", False),
        ("do I have anything about parental leave?", "parental leave", False),
        ("Do we have any documents on travel?", "travel", False),
        ("find biology-notes.pdf", "biology-notes.pdf", True),
        ("biology-notes.pdf ở đâu?", "biology-notes.pdf", True),
        ("Tệp biology-notes.pdf nằm ở đâu?", "biology-notes.pdf", True),
        ("Tôi có tài liệu nào về nghỉ phép không?", "nghỉ phép", False),
        ("biology-notes.pdf 在哪里？", "biology-notes.pdf", True),
        ("我有没有关于年假的文档？", "年假", False),
        ("《产品手册》在哪里？", "产品手册", False),
    ],
)
def test_where_a_document_is(question: str, name: str, is_file: bool) -> None:
    found = library_question(question)
    assert found is not None
    assert (found["asks"], found["name"], found["is_file"]) == ("find", name, is_file)


@pytest.mark.parametrize(
    "question",
    [
        "how many documents does a visa need?",
        "How many documents do I have to submit?",
        "How many documents do I have to bring to the appointment?",
        "list the files that dpkg installs",
        "List the documents required for a visa",
        "Which files does dpkg install?",
        "Which documents do I need?",
        "How many files can I upload?",
        "How many pages does the handbook have?",
        "How many days of leave do I have?",
        "What changed in Flask 3.1?",
        "What changed in version 2 last year?",
        "What is new in PostgreSQL 15?",
        "Which files were changed by the patch?",
        "Where is the kitchen?",
        "Where is my passport?",
        "Where are the log files stored?",
        "Do I have a right to parental leave?",
        "Do I have to register?",
        "How large is the library of the university?",
        "What does the library cost?",
        "Show me how to list my files",
        "How do I list all documents in a folder?",
        "Xin visa cần bao nhiêu tài liệu?",
        "Tôi cần nộp những tài liệu nào?",
        "Tôi có bao nhiêu ngày nghỉ phép?",
        "Liệt kê các tệp mà dpkg cài đặt",
        "Phiên bản 2 có gì mới?",
        "Nhà bếp ở đâu?",
        "我有多少天年假？",
        "办签证需要多少文件？",
        "我需要提交哪些文件？",
        "列出dpkg安装的文件",
        "2.0版本有什么变化？",
        "厨房在哪里？",
        "",
        "?",
        "list " * 60,
    ],
)
def test_questions_for_the_contents_stay_theirs(question: str) -> None:
    assert library_question(question) is None
    assert library_question(question, after_listing=True) is None


@pytest.mark.parametrize("question", ["What changed last week?", "List the documents.", "How many files are there?"])
def test_what_may_mean_what_is_in_view_needs_an_empty_one(question: str) -> None:
    assert library_question(question) is not None
    assert library_question(question, alone=False) is None
    assert library_question(question, after_listing=True, alone=False) is not None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("And which of them changed last?", {"asks": "list"}),
        ("which one is the newest?", {"asks": "list"}),
        ("which of these were changed last week?", {"asks": "changed", "since": "2026-03-09"}),
        ("And how many of them are PDFs?", {"media_type": "application/pdf"}),
        ("list them", {"asks": "list"}),
        ("Tài liệu nào thay đổi gần đây nhất?", {"asks": "list"}),
        ("Và cái nào mới nhất?", {"asks": "list"}),
        ("其中哪个是最近更新的？", {"asks": "list"}),
        ("哪个最新？", {"asks": "list"}),
    ],
)
def test_a_listing_may_be_followed_up(question: str, expected: dict[str, Any]) -> None:
    found = library_question(question, after_listing=True, alone=False)
    assert found is not None
    assert {name: value for name, value in found.items() if name in expected} == expected


@pytest.mark.parametrize("question", ["And which of them changed last?", "list them", "其中哪个是最近更新的？"])
def test_the_same_words_after_another_question_ask_about_that(question: str) -> None:
    assert library_question(question, alone=False) is None


def test_a_format_may_be_asked_for() -> None:
    found = library_question("How many PDF files do I have?")
    assert found is not None
    assert found["media_type"] == "application/pdf"


def test_a_date_that_is_none_asks_for_the_newest() -> None:
    found = library_question("Which documents were changed since 2026-02-31?")
    assert found is not None
    assert (found["asks"], found["since"]) == ("list", "")


def turn(question: str) -> Turn:
    return Turn(question=question, standalone_question=question, answer="")


@pytest.mark.parametrize(
    ("turns", "listed"),
    [
        ([], False),
        ([turn("How many documents are there?")], True),
        ([turn("How many documents are there?"), turn("Which of them are PDFs?")], True),
        ([turn("Which rooms are there?"), turn("Which of them are PDFs?")], False),
        ([turn("Which rooms are there?"), turn("What changed last week?")], False),
        ([{**turn("Which rooms are there?"), "from_catalogue": True}], True),
        ([{**turn("How many documents are there?"), "from_catalogue": False}], False),
        ([{**turn("Show me"), "from_catalogue": True}, turn("Which of them are PDFs?")], True),
    ],
)
def test_a_turn_says_whether_it_listed_documents_and_one_that_does_not_is_told_by_its_words(
    turns: list[Turn], listed: bool
) -> None:
    assert after_listing(turns) is listed
