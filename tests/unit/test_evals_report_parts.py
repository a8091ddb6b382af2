"""What reports are put together from: markup, charts and numbers."""

import re

from evals.metrics.metric_groups import BY_NAME, KEY_FIGURES
from evals.report.charts import Bin, even_ticks, histogram, interval_bar
from evals.report.html_markup import Markup, element, shown, signed


def test_key_figures_are_measures() -> None:
    assert set(KEY_FIGURES) <= set(BY_NAME)


def test_text_is_escaped_and_markup_is_not() -> None:
    assert element("p", "a < b", element("b", "&"), None, class_="x", hidden=True, title=None, data_x='"') == (
        '<p class="x" hidden data-x="&quot;">a &lt; b<b>&amp;</b></p>'
    )
    assert isinstance(element("br"), Markup)


def test_bars_keep_to_their_scale() -> None:
    bar = interval_bar({"mean": 0.5, "low": 0.25, "high": 1.5, "n": 4}, most=1.0, says="half", baseline=2.0)

    assert 'class="bar" x="0" y="4" width="120.0"' in bar
    assert 'x1="60.0" x2="240.0"' in bar
    assert 'class="baseline" x1="240.0"' in bar
    assert 'width="0.0"' in interval_bar({"mean": 0.0, "low": 0.0, "high": 0.0, "n": 4}, most=0.0, says="none")


def test_a_histogram_draws_each_count_in_proportion() -> None:
    chart = histogram([Bin("a", "of a", 4), Bin("b", "of b", 2), Bin("c", "of c", 0)], title="Counts", says="4, 2, 0")
    heights = [float(height) for height in re.findall(r' height="([\d.]+)" rx', chart)]

    assert heights[0] == 2 * heights[1]
    assert heights[2] == 0
    assert "<title>of a: 4</title>" in chart


def test_ticks_name_the_ends_of_even_parts() -> None:
    assert even_ticks(200.0, 4) == {"0": 0.0, "50": 0.25, "100": 0.5, "150": 0.75, "200": 1.0}


def test_numbers_are_written_by_their_unit() -> None:
    assert [shown(0.5, "share"), shown(2.5, "count"), shown(1234.0, "count")] == ["0.500", "2.50", "1,234"]
    assert [shown(12.4, "ms"), shown(1500.0, "ms")] == ["12 ms", "1.50 s"]
    assert [signed(0.1, "share"), signed(-3.0, "ms"), signed(-0.0001, "share")] == ["+0.100", "−3 ms", "0.000"]
