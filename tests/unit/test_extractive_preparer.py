"""Small talk, courtesies, follow-ups and languages, as the extractive preparer takes them."""

import pytest

from graph.rows import Turn
from graph.usage import Meter
from text.language import language
from tools.extractive.subquestions import split_question
from tools.rules.question_rules import RulePreparer, RuleRewriter, neutral_words
from tools.rules.small_talk_rules import small_talk, without_courtesies


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Good evening, how are you?", "greeting"),
        ("thanks, bye!", "goodbye"),
        ("Thanks, that helps a lot!", "thanks"),
        ("Merci beaucoup !", "thanks"),
        ("Wie heißt du?", "about"),
        ("ありがとうございます", "thanks"),
        ("안녕하세요!", "greeting"),
        ("Спасибо!", "thanks"),
        ("🙂", "acknowledgement"),
        ("Hello world in Rust", None),
        ("Thank you letter of 1945", None),
        ("Are you there yet, said the donkey in which film?", None),
        ("谢谢惠顾是什么意思", None),
        ("Chào bạn, doanh thu là bao nhiêu?", None),
        ("hello " * 100, None),
    ],
)
def test_small_talk_is_what_leaves_no_word_over(line: str, kind: str | None) -> None:
    assert small_talk(line) == kind


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("Hi there! How do I delete a workspace?", "How do I delete a workspace?"),
        ("How do I delete a workspace? Thanks!", "How do I delete a workspace?"),
        ("你好，怎么删除一个工作区？", "怎么删除一个工作区？"),
        ("Thanks!", "Thanks!"),
    ],
)
def test_courtesies_around_a_question_are_dropped(line: str, bare: str) -> None:
    assert without_courtesies(line) == bare


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("What is the hotel limit a night? When are approved claims paid?", 2),
        ("Cổng mặc định là gì? Làm thế nào để xóa một phiên?", 2),
        ("默认端口是多少？会话怎么删除？", 2),
        ("What is the hotel limit a night, and when are approved claims paid?", 1),
        ("Who wrote Hamlet? And when did he write it?", 1),
        ("I lost the key of the north gate. Who keeps another one?", 1),
        ("Which player got a penalty, which gave them the ball?", 1),
        ("What German general and fighter pilot was of Huguenot ancestry?", 1),
        ("", 1),
    ],
)
def test_questions_of_two_parts_are_taken_apart(question: str, count: int) -> None:
    assert len(split_question(question)) == count


async def test_search_always_takes_small_talk_to_the_library() -> None:
    prepared = await RulePreparer().prepare("hello", [], search="always", has_pages=False, meter=Meter())
    assert prepared.needs_retrieval


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What does 谢谢 mean?", "en"),
        ("支持PDF吗", "zh"),
        ("ポートは何番ですか", "ja"),
        ("cam on ban nhieu", "vi"),
        ("MIT", "en"),
        ("Wie groß ist der Server?", "de"),
        ("Où est le fichier ?", "fr"),
        ("¿Dónde está el archivo?", "es"),
        ("", "en"),
        ("AI war games", "en"),
        ("포트가 뭐예요", "ko"),
        ("Кто это?", "ru"),
        ("Cổng là gì", "vi"),
    ],
)
def test_the_language_of_short_texts(text: str, code: str) -> None:
    assert language(text) == code


async def test_a_message_that_shows_no_language_is_in_that_of_the_conversation() -> None:
    turns = [Turn(question="Doanh thu là bao nhiêu?", standalone_question="Doanh thu là bao nhiêu?", answer="")]
    for said, expected in (("2019?", "vi"), ("Why is that?", "en"), ("为什么？", "zh")):
        prepared = await RulePreparer().prepare(said, turns, search="auto", has_pages=False, meter=Meter())
        assert prepared.language == expected


@pytest.mark.parametrize("piece", ["ok, ", "and what ", " ", "? ", "A-", "what about ", "请", '"'])
async def test_long_messages_are_prepared_in_one_pass(piece: str) -> None:
    """Patterns of follow-ups and parts once took minutes over ten thousand spaces."""
    question = f"{piece * (9_990 // len(piece))}x"
    turns = [Turn(question="What is a segment?", standalone_question="What is a segment?", answer="")]
    prepared = await RulePreparer().prepare(question, turns, search="auto", has_pages=False, meter=Meter())
    assert prepared.needs_retrieval
    assert len(split_question(prepared.standalone_question)) == 1


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Giá trị mặc định của max_connections là gì?", "max_connections"),
        ("Lệnh docker-compose trong Ubuntu 22.04 làm gì?", "docker-compose Ubuntu 22.04"),
        ("PostgreSQL 如何 vacuum 表？", "PostgreSQL vacuum"),
        ("Wie hoch ist der Wert von work_mem in PostgreSQL 15?", "work_mem PostgreSQL 15"),
        ("Làm thế nào để xin nghỉ phép?", ""),
        ("怎样请假？", ""),
    ],
)
async def test_a_search_in_another_language_takes_what_both_write_alike(question: str, words: str) -> None:
    assert neutral_words(question) == words
    rewriting = await RuleRewriter().rewrite(question, [question], languages=["en"], meter=Meter())
    assert not words or rewriting.query == words
    again = await RuleRewriter().rewrite(question, [question, rewriting.query], languages=["en"], meter=Meter())
    assert again.query != words or not words
