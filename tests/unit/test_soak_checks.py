"""What the soak would notice: events lost, doubled or wrong, and what grows."""

from collections.abc import Iterator
from typing import Any

import pytest

from bench.soak.run_check import RunCheck
from bench.soak.samples import MEMORY, Sample, trend
from bench.soak.soak_report import growing

Told = tuple[str, dict[str, Any]]


def answer(*sections: str) -> list[Told]:
    told: list[Told] = [("run_started", {})]
    for index, text in enumerate(sections):
        told.append(("section_started", {"section_index": index}))
        told += [("text_delta", {"section_index": index, "delta": letter}) for letter in text]
        told.append(("section_finished", {"section_index": index, "text": text}))
    message = {"sections": [{"text": text} for text in sections]}
    return [*told, ("run_finished", {"outcome": "answered", "message": message})]


def numbered(told: list[Told]) -> Iterator[Told]:
    for seq, (kind, event) in enumerate(told, 1):
        yield kind, {"seq": seq, "at": "now", **event}


def checked(told: list[Told]) -> RunCheck:
    check = RunCheck("a run")
    for kind, event in told:
        check.add(kind, event)
    return check


def test_a_whole_answer_has_no_fault() -> None:
    check = checked(list(numbered(answer("One.", "Two."))))
    assert (check.faults, check.end) == ([], "answered")


@pytest.mark.parametrize("at", [1, 4, 7])
def test_an_event_that_is_lost_or_doubled_is_noticed(at: int) -> None:
    told = list(numbered(answer("One.", "Two.")))
    assert checked([*told[:at], *told[at + 1 :]]).faults
    assert checked([*told[: at + 1], *told[at:]]).faults


def test_another_text_another_end_and_an_event_behind_it_are_noticed() -> None:
    told = answer("One.")
    told[-2] = ("section_finished", {"section_index": 0, "text": "Other."})
    assert checked(list(numbered(told))).faults == ["section 0 is not the sum of its deltas"]
    told = answer("One.")
    told[-1][1]["message"]["sections"][0]["text"] = "Other."
    assert checked(list(numbered(told))).faults == ["the stored message is not what was shown"]
    assert checked(list(numbered([*answer("One."), ("title_changed", {})]))).faults == ["title_changed after the end"]


def test_sections_that_a_crash_made_void_are_written_again() -> None:
    begun = answer("One.", "Two.")[:-3]
    resumed: Told = ("run_resumed", {"attempt": 2, "sections": [0]})
    again = [told for told in answer("One.", "Other.") if told[1].get("section_index") != 0][1:]
    check = checked(list(numbered([*begun, resumed, *again])))
    assert (check.faults, check.resumed, check.end) == ([], 1, "answered")


def test_a_reader_who_comes_back_may_get_the_end_alone() -> None:
    *_, end = numbered(answer("One."))
    check = RunCheck("a run")
    check.add("run_started", {"seq": 1, "at": "now"})
    check.add(*end, rejoined=True)
    assert (check.faults, check.withheld) == ([], True)


def test_two_readings_are_the_same_only_where_every_event_is() -> None:
    assert checked(list(numbered(answer("One.")))).digest() == checked(list(numbered(answer("One.")))).digest()
    assert checked(list(numbered(answer("One.")))).digest() != checked(list(numbered(answer("Two.")))).digest()


def test_growth_is_told_from_restarts_at_other_levels() -> None:
    def life(number: int, begins: float, level: float, an_hour: float) -> list[Sample]:
        return [
            Sample(begins + second, number, level + an_hour * second / 3600 + second % 10 / 10)
            for second in range(0, 900, 5)
        ]

    flat = trend([*life(0, 0, 100, 0), *life(1, 1000, 300, 0)])
    growing = trend([*life(0, 0, 300, 60), *life(1, 1000, 100, 60)])
    assert flat is not None
    assert growing is not None
    assert flat.low <= 0 <= flat.high
    assert flat.high < 5
    assert growing.slope == pytest.approx(60, abs=3)
    assert trend(life(0, 0, 100, 0)[:20]) is None


def test_only_lives_that_last_are_judged() -> None:
    def life(number: int, minutes: int, an_hour: float) -> list[Sample]:
        seconds = range(0, 60 * minutes, 5)
        return [Sample(second, number, 100 + an_hour * second / 3600 + second % 10 / 10) for second in seconds]

    assert growing({("server-1", MEMORY): life(0, 15, 300)}) == []
    assert growing({("server-2", MEMORY): [*life(0, 15, 300), *life(1, 30, 0)]}) == []
    assert len(growing({("server-2", MEMORY): life(0, 30, 300)})) == 1
