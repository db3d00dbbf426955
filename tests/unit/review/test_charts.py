"""Where the bars of the overview stand."""

import pytest

from service.text.cleaning_report import RULES
from service.web.review.charts import histogram, shares
from service.web.review.rules import examples


def test_a_bar_of_a_row_is_as_wide_as_its_part_of_the_widest() -> None:
    assert [row.width for row in shares([("a", 4), ("b", 1), ("c", 0)])] == [100, 25, 0]
    assert [row.width for row in shares([("a", 0)])] == [0]


def test_the_bars_of_a_histogram_stand_side_by_side_up_to_one_with_the_highest_at_the_top() -> None:
    chart = histogram({0.6: 1, 0.95: 4}, [0.6], width=180)
    assert (chart.bars[0].low, chart.bars[-1].high) == (0.55, 1.0)
    edges = [bar.x for bar in chart.bars]
    assert edges == pytest.approx([1 + 20 * n for n in range(9)])
    assert [bar.count for bar in chart.bars if bar.height] == [1, 4]
    assert chart.bars[-1].y == 14
    assert all(bar.y + bar.height == pytest.approx(chart.base) for bar in chart.bars)


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.62, 0.95, 1.0])
def test_a_threshold_stands_between_what_is_below_and_above_it(threshold: float) -> None:
    chart = histogram({0.95: 1}, [threshold])
    [line] = chart.thresholds
    assert all((bar.high <= threshold) == (bar.x + bar.width <= line.x) for bar in chart.bars)


@pytest.mark.parametrize("rule", RULES)
def test_the_example_of_a_rule_is_what_the_rule_takes_out(rule: str) -> None:
    example = examples()[rule]
    assert len(example.after) < len(example.before)
