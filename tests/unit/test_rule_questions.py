"""Questions that are made of a document by rule, and what a guide quotes of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Segment
from tests.unit.test_entries import segments_of
from tools.guides.outlines import guide_outline, guide_sentences
from tools.guides.rule_questions import LONGEST_QUESTION, Candidate, rule_questions, spread_out


def questions(text: str, title: str = "Manual", name: str = "a.md") -> list[str]:
    return [each.question for each in rule_questions(title, segments_of(text.encode(), name))]


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("A firewall is a piece of equipment that sorts packets.", "What is a firewall?"),
        ("Brian Ripley is the author of the package.", "Who is Brian Ripley?"),
        ("The Grainger Market itself was opened in 1835.", "When was the Grainger Market opened?"),
        ("The Mini was designed by Alec Issigonis.", "Who designed the Mini?"),
        ("The firewall rules are located in /etc/nftables.conf.", "Where are the firewall rules located?"),
        ("The extent of Hadrian's Wall was 73 miles.", "What was the extent of Hadrian's Wall?"),
        ("The apt-cache policy command displays priorities.", "What does the apt-cache policy command display?"),
        ("The term “quota” refers to a limit.", "What does the term quota refer to?"),
        ("The Seven Years' War began in 1756.", "When did the Seven Years' War begin?"),
        ("Lindisfarne là một nhóm nhạc rock dân gian.", "Lindisfarne là gì?"),
        ("Trường được thành lập vào năm 1926 tại Huế.", "Trường được thành lập khi nào?"),
        ("Hồ Gươm nằm ở trung tâm thành phố.", "Hồ Gươm nằm ở đâu?"),
        ("缓存是一种暂存系统。", "缓存是什么？"),
        ("哈德良长城的长度是73英里。", "哈德良长城的长度是多少？"),
        ("杰克逊维尔位于佛罗里达州东北部。", "杰克逊维尔位于哪里？"),
    ],
)
def test_a_statement_becomes_the_question_that_it_answers(statement: str, question: str) -> None:
    assert questions(statement) == [question]


@pytest.mark.parametrize(
    "statement",
    [
        "It is a piece of equipment.",
        "This command displays priorities.",
        "The system is a mess.",
        "A process holds a lease.",
        "If the pool is a large one, wait.",
        "ALCE's measures say little of extraction.",
        "Nó là một nhóm nhạc.",
        "Khu vực này là nơi sinh sống của nhiều loài.",
        "它是一种暂存系统。",
        "通常的做法是，把输入转向文件。",
        "Is a firewall a piece of equipment?",
    ],
)
def test_what_a_reader_could_not_tell_is_no_question(statement: str) -> None:
    assert questions(statement) == []


def test_terms_rows_and_headings_are_asked_about() -> None:
    html = (
        "<main><h1>Broker</h1><p>Run it.</p><h2>How long are messages kept?</h2><p>They are kept for a week.</p>"
        "<h2>Install the broker</h2><p>Unpack the archive, then start the service.</p>"
        "<dl><dt>--pool-size=N</dt><dd>Sets the size of the pool.</dd>"
        "<dt>Dead letter</dt><dd>A message nobody took.</dd></dl>"
        "<table><tr><th>Name</th><th>Default</th><th>Meaning</th></tr>"
        "<tr><td>pool_wait</td><td>10</td><td>How long to wait.</td></tr></table>"
        "<table><tr><th>Item</th><th>Limit</th></tr><tr><td>Client dinner</td><td>65 euros</td></tr></table></main>"
    )
    assert questions(html, "Broker", "broker.html") == [
        "How long are messages kept?",
        "How do I install the broker?",
        "What does --pool-size do in Broker?",
        "What is Dead letter?",
        "What is the default of pool_wait?",
        "What does pool_wait do?",
        "What is the limit for Client dinner?",
    ]


def test_the_span_is_that_of_what_answers() -> None:
    text = "# Leave\n\nSome words. A quota is a limit on machine resources."
    [found] = rule_questions("Leave", segments_of(text.encode(), "a.md"))
    [segment] = segments_of(text.encode(), "a.md")
    assert segment.text[found.start : found.end] == "A quota is a limit on machine resources."


def test_the_first_questions_are_of_several_sections_and_kinds() -> None:
    made = [Candidate(f"q{at}", "d", at, at + 1, "row", "Limits") for at in range(4)]
    made += [Candidate("q4", "d", 4, 5, "definition", "Words"), Candidate("q5", "d", 5, 6, "row", "Prices")]
    assert [each.question for each in spread_out(made)][:3] == ["q4", "q0", "q5"]
    assert sorted(each.question for each in spread_out(made)) == [f"q{at}" for at in range(6)]


@given(st.text(max_size=400), st.text(max_size=40))
def test_any_text_makes_short_questions_with_spans_within_it(text: str, title: str) -> None:
    segment = Segment("d", 0, 7, 7 + len(text), text)
    for each in rule_questions(title, [segment]):
        assert 7 <= each.start < each.end <= 7 + len(text)
        assert len(each.question) <= LONGEST_QUESTION
    for sentence in guide_sentences(title, [segment]):
        assert text[sentence["start"] - 7 : sentence["end"] - 7] == sentence["text"]


def test_a_guide_quotes_sentences_and_headings_where_they_stand() -> None:
    text = (
        "# Leave\n\nThis handbook is about the leave of everybody in the company.\n\n"
        "## Annual leave\n\nEvery employee gets 25 days of annual leave a year. It lapses in March.\n\n"
        "## Notice\n\nThe notice period of every contract is three months.\n"
    )
    segments = [replace(each, heading="Leave") for each in segments_of(text.encode(), "a.md")]
    whole = "".join(segment.text for segment in segments)
    sentences, outline = guide_sentences("Leave", segments), guide_outline(segments)
    assert [each["text"] for each in sentences] == [
        "This handbook is about the leave of everybody in the company.",
        "Every employee gets 25 days of annual leave a year.",
        "The notice period of every contract is three months.",
    ]
    assert [each["text"] for each in outline] == ["Leave", "Annual leave", "Notice"]
    for place in (*sentences, *outline):
        assert whole[place["start"] : place["end"]] == place["text"]
