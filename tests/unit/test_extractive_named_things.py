"""The things that a question compares or names."""

import pytest

from tools.extractive.subquestions import named_things


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("difference between shared_buffers and work_mem", [{"buffer", "shar"}, {"mem"}]),
        ("Which was founded first, Arthur's Magazine or First for Women?", [{"arthur", "magazin"}, {"first", "women"}]),
        ("Were Scott Derrickson and Ed Wood of the same nationality?", [{"scott", "derrickson"}, {"ed", "wood"}]),
        ("RAID-5和RAID-6有什么区别？", [{"5"}, {"6"}]),
        ("apt khác gì với aptitude?", [{"apt"}, {"aptitud"}]),
        ("sự khác nhau giữa purge và remove là gì?", [{"purg"}, {"remov"}]),
        ("Who wrote the guide to Gull Island?", [{"gull"}, {"island"}]),
        ("what does the ferry cost?", []),
    ],
)
def test_things_that_are_compared_or_named(question: str, things: list[set[str]]) -> None:
    assert sorted(map(sorted, named_things(question))) == sorted(map(sorted, things))
