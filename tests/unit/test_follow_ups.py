"""What makes a message a follow-up, and what it takes along from the conversation."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.sets.golden import load_golden
from graph.rows import Turn
from text.words import count_words
from tools.rules import follow_ups
from tools.rules.follow_ups import LONGEST_FOLLOW_UP, Standalone, own_question, standalone


def turn(question: str, *, refused: bool = False) -> Turn:
    return Turn(question=question, standalone_question=question, answer="", refused=refused)


def after(question: str, follow_up: str) -> str:
    return standalone(follow_up, [turn(question)]).question


@pytest.mark.parametrize(
    ("question", "follow_up", "carried"),
    [
        ("How long is sick pay paid in full?", "And during probation?", "sick pay paid full"),
        ("What does --force do?", "what about --quiet?", "--force"),
        ("What is the default of shared_buffers?", "What range may it have?", "default shared_buffers"),
        ("sabbatical", "is it paid out when I leave?", "sabbatical"),
        ("How are segments sized?", "Why?", "segments sized"),
        ("Can I bring my dog?", "Can that be refused?", "bring dog"),
        ("动火许可证有效期多长？", "可以延长吗？", "动火许可证 效期"),
        ("安全经理是谁？", "他什么时候值班？", "安全经理"),
        ("Hạng thương gia được duyệt bởi trưởng nhóm?", "Còn hạng phổ thông?", "thương gia duyệt trưởng nhóm"),
        ("Khách sạn Đà Nẵng giá bao nhiêu?", "Ở đó có hồ bơi không?", "Khách sạn Đà Nẵng giá"),
        ("Wie teuer ist die Fähre nach Brandsee?", "Und mit Fahrrad?", "teuer Fähre nach Brandsee"),
        ("Quel est le prix du billet?", "Et pour un enfant?", "prix billet"),
    ],
)
def test_a_follow_up_takes_the_content_words_of_the_last_question(question: str, follow_up: str, carried: str) -> None:
    assert after(question, follow_up) == f"{follow_up} ({carried})"


@pytest.mark.parametrize(
    "stands_alone",
    [
        "Where does Martin Luther live?",
        "In which file are the settings kept?",
        "Who wrote Hamlet, and when did he write it?",
        "What is the tool called that cleans up?",
        "How can I set the text back to how it was an hour ago?",
        "How do I delete a session, its messages and all of their sources?",
        "Larkspur 4.0 với mức nén thường có tỉ lệ nào?",
        "表格的批注想让它一直显示，如何操作？",
        "Cổng mặc định của máy chủ là bao nhiêu?",
    ],
)
def test_a_question_that_names_its_subject_takes_nothing_along(stands_alone: str) -> None:
    assert after("How many entries does the HTTP/2 table of Larkspur hold?", stands_alone) == stands_alone


def test_a_short_question_may_be_a_new_one_and_is_searched_for_as_asked_too() -> None:
    turns = [turn("How long is sick pay paid in full?")]
    assert standalone("free parking?", turns).beside == "free parking?"
    assert standalone("and free parking?", turns).beside == ""
    assert standalone("Why?", turns).beside == ""


def test_a_conversation_goes_on_with_what_its_last_question_meant() -> None:
    turns: list[Turn] = []
    for question in ("sabbatical", "and how long before should I tell my team?", "is it paid out when I leave?"):
        made = standalone(question, turns).question
        turns.append(Turn(question=question, standalone_question=made, answer=""))
    assert turns[1]["standalone_question"] == "and how long before should I tell my team? (sabbatical)"
    assert turns[2]["standalone_question"] == "is it paid out when I leave? (before team sabbatical)"


def test_a_refused_question_gives_nothing_to_the_next() -> None:
    rooms, dinner = turn("Which rooms have a view?"), turn("Is dinner included?", refused=True)
    breakfast = "What about breakfast?"
    assert standalone(breakfast, [dinner]) == Standalone(breakfast)
    made = standalone(breakfast, [rooms, dinner])
    assert (made.question, made.beside) == (f"{breakfast} (rooms view)", breakfast)


def test_small_talk_and_what_was_asked_of_the_library_itself_are_no_topic() -> None:
    listed: Turn = {**turn("Which documents do you have?"), "from_catalogue": True}
    made = standalone("Does it need a licence?", [turn("Which database does Citewell use?"), listed, turn("Thanks!")])
    assert made.question == "Does it need a licence? (database Citewell)"


def test_of_a_follow_up_its_own_words_ask() -> None:
    made = after("How long is sick pay paid in full?", "And during probation?")
    assert own_question(made) == "And during probation?"
    assert own_question("How are segments sized?") == ""


@pytest.mark.parametrize("message", ["Why?", "And after that?", "What about both?", "Còn sau đó?", "Còn ai?"])
def test_a_follow_up_that_only_relates_to_what_was_said_asks_nothing_itself(message: str) -> None:
    made = after("How are segments sized?", message)
    assert made != message
    assert own_question(made) == ""


_PIECES = [
    *("and", "What is", "what about", "how do I", "turn", "it", "its", "that", "one", "the", "a", "then", "(", ")"),
    *("in", "from", "of", "if", "does", "work_mem", "--all", "80%", "IPv6", "Linux", "Larkspur 4.0", "box", "?", ","),
    *("那", "呢", "的", "它", "是什么", "第一个分区", "「减」", "còn", "thì sao", "nó", "ổ", "lệnh này"),
]
PIECES = st.lists(st.sampled_from(_PIECES), max_size=12).map(" ".join)


@given(question=PIECES, follow_up=PIECES)
def test_a_standalone_question_is_no_longer_than_both(question: str, follow_up: str) -> None:
    made = standalone(follow_up, [turn(question)])
    length, *both = count_words([made.question, question, follow_up])
    assert length <= sum(both)
    assert made.changed or length <= both[1]
    assert own_question(made.question) in ("", *([made.question.rsplit(" (", 1)[0]]))


@pytest.mark.parametrize("piece", ["the ", "of a ", "a.b/", "Aa ", "in in ", "--a-", "一个", "「", "it ", "one ", "( "])
def test_hostile_pairs_of_messages_are_prepared_at_once(piece: str) -> None:
    most = piece * (LONGEST_FOLLOW_UP // len(piece))
    for opening in ("And ", "what about ", "", "còn ", "那"):
        assert after(most, f"{opening}{most}"[:LONGEST_FOLLOW_UP])


NOTHING = re.compile(r"(?!)")


@pytest.mark.parametrize(
    ("words", "language", "lost"), [("_JOINS", "vi", 3), ("_POINTS", "en", 2), ("_POINTS", "zh", 1)]
)
def test_each_list_of_words_pays(monkeypatch: pytest.MonkeyPatch, words: str, language: str, lost: int) -> None:
    golden = [case for case in load_golden().cases if case.before and case.tags.get("topic") != "changed"]
    asked = [case for case in golden if case.tags["language"] == language]

    def found() -> int:
        return sum(standalone(case.question, [turn(case.before[-1])]).changed for case in asked)

    with_words = found()
    monkeypatch.setattr(follow_ups, words, NOTHING)
    assert with_words - found() >= lost
