"""Figures of several runs: medians, their spread, and how the manual shows both."""

from bench.figures import compared, figure, median_of_runs, table


def test_figures_of_several_runs_are_medians_with_their_spread() -> None:
    runs = [
        [compared(figure("first event", value, "ms", at_most=5), {"bare": bare})]
        for value, bare in ((4.0, 9.0), (7.0, 8.0), (5.0, 1.0))
    ]

    (found,) = median_of_runs(runs)

    assert (found["value"], found["spread"], found["beside"]) == (5.0, (4.0, 7.0), {"bare": 8.0})
    assert table([found]) == [
        ["figure", "measured", "least", "most", "unit", "bar", "bare"],
        ["first event", "5", "4", "7", "ms", "≤ 5", "8"],
    ]


def test_one_run_has_no_spread() -> None:
    (found,) = median_of_runs([[figure("first event", 4.0, "ms")]])

    assert "spread" not in found
    assert table([found])[0] == ["figure", "measured", "unit", "bar"]


def test_a_figure_that_one_run_does_not_have_is_the_median_of_the_others() -> None:
    runs = [[figure("kept", 1.0, "s")], [figure("kept", 3.0, "s"), figure("seldom", 2.0, "s")]]

    assert [(found["name"], found["value"]) for found in median_of_runs(runs)] == [("kept", 2.0), ("seldom", 2.0)]


def test_a_figure_that_only_the_last_run_has_is_without_spread() -> None:
    kept, once = median_of_runs([[figure("kept", 1.0, "s")], [figure("kept", 3.0, "s"), figure("once", 2.0, "s")]])

    assert kept["spread"] == (1.0, 3.0)
    assert "spread" not in once
