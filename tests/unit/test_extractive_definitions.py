"""What a thing is, is told by the sentence that says so, not by those that say something of it."""

import pytest

from text.normal_forms import flatten
from tools.extractive.question_analysis import defines


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is a ROS 2 node?", "A ROS 2 node is a process that performs computation."),
        ("what are segments", "Segments are slices of canonical text."),
        ("Who was Agnes Tolland?", "Agnes Tolland was a harbour pilot."),
        ("Kỳ lương là gì?", "Kỳ lương là khoảng thời gian mà tiền công được tính một lần."),
        ("什么是日间病房？", "日间病房是不过夜的病房。"),
        ("日间病房是什么？", "日间病房是不过夜的病房。"),
    ],
)
def test_a_definition_is_told(question: str, sentence: str) -> None:
    assert defines(question, flatten(sentence))


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is a ROS 2 node?", "Nodes talk to each other over topics."),
        ("What is a ROS 2 node?", "A ROS 2 node has a name."),
        ("When is a node started?", "A node is started by a launch file."),
        ("What is the price of a ticket for adults at the museum in the summer of 2025?", "The price is 13 euros."),
        ("?", "It is so."),
    ],
)
def test_other_sentences_are_none(question: str, sentence: str) -> None:
    assert not defines(question, flatten(sentence))
