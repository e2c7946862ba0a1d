"""Two values for one figure: rounded, split or restated; splits, reported once or many times."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.filings.figure import Fact
from fingerpost.filings.revisions import (
    SPLIT_CONCEPT,
    Split,
    classify_change,
    find_split_factor,
    is_rounding,
    list_splits,
)
from tests.filings.drawing import facts

BEFORE_ALL = "1990-01-01"


def told(ratio, end, filed, start="", accession=""):
    """One filing's telling of a ratio."""
    return Fact(SPLIT_CONCEPT, "pure", start, end, ratio, accession or f"a-{filed}", "10-K", filed)


def later(day, days):
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


FIRST = (told(5, "2020-08-28", "2020-10-26"), told(3, "2022-08-24", "2022-10-24"))
RETOLD = st.tuples(
    st.sampled_from(FIRST), st.integers(0, 1500), st.integers(0, 1500), st.sampled_from([0, 30, 90, 364])
)


@given(st.lists(RETOLD, max_size=10))
def test_a_repeated_ratio_counts_once(retold):
    """As a comparative, with whichever later day, month or year: 5:1 and 3:1 are 15:1, not 1125:1."""
    again = []
    for place, (split, moved, waited, days) in enumerate(retold):
        start = later(split.end, moved - days) if days else ""
        filed = later(split.filed, 1 + max(moved, waited))
        again.append(told(split.value, later(split.end, moved), filed, start, f"b-{place}"))
    splits = list_splits([*FIRST, *again])

    assert [split.ratio for split in splits] == [5, 3]
    assert find_split_factor(splits, BEFORE_ALL, None) == 15
    assert [find_split_factor(splits, day, None) for day in ("2021-12-31", "2022-10-24")] == [3, 1]


TWO_OF_ONE_RATIO = """
EarningsPerShareDiluted 2011-01-01 2011-12-31 4.00 k11 10-K 2012-02-01
EarningsPerShareBasic   2011-01-01 2011-12-31 4.10 k11 10-K 2012-02-01
EarningsPerShareDiluted 2011-01-01 2011-12-31 2.00 k12 10-K 2013-02-01
EarningsPerShareBasic   2011-01-01 2011-12-31 2.05 k12 10-K 2013-02-01
EarningsPerShareDiluted 2014-01-01 2014-12-31 5.00 k14 10-K 2015-02-01
EarningsPerShareBasic   2014-01-01 2014-12-31 5.20 k14 10-K 2015-02-01
EarningsPerShareDiluted 2014-01-01 2014-12-31 2.50 k15 10-K 2016-02-01
EarningsPerShareBasic   2014-01-01 2014-12-31 2.60 k15 10-K 2016-02-01
"""


def test_the_same_ratio_twice_is_two_splits_where_figures_show_it():
    """Two for one in 2012, and again in 2015: earnings of one year were halved in both."""
    days = (("2012-12-24", "2013-02-01"), ("2012-12-24", "2014-02-01"), ("2015-12-23", "2016-02-01"))
    ratios = [told(2, end, filed) for end, filed in days]
    splits = list_splits(ratios, facts(TWO_OF_ONE_RATIO, "USD/shares"))

    assert splits == [Split("2012-12-24", 2, "2013-02-01"), Split("2015-12-23", 2, "2016-02-01")]


def test_one_figure_that_was_halved_shows_no_second_split():
    once = [line for line in TWO_OF_ONE_RATIO.splitlines() if "Basic   2014" not in line]
    witnesses = facts("\n".join(once), "USD/shares")

    assert len(list_splits([told(2, "2012-12-24", "2013-02-01")], witnesses)) == 1


SEEN = """
EarningsPerShareDiluted 2019-01-01 2019-12-31 10.00 k19 10-K 2020-02-01
EarningsPerShareBasic   2019-01-01 2019-12-31 10.50 k19 10-K 2020-02-01
EarningsPerShareDiluted 2019-01-01 2019-12-31 {} k20 10-K 2020-11-01
EarningsPerShareBasic   2019-01-01 2019-12-31 {} k20 10-K 2020-11-01
"""


def test_the_boundary_is_between_the_last_old_and_the_first_new_figure():
    year = told(5, "2020-12-31", "2021-02-01", "2020-01-01")
    splits = list_splits([year], facts(SEEN.format("2.00", "2.10"), "USD/shares"))

    assert [find_split_factor(splits, day, None) for day in ("2020-02-01", "2020-10-31", "2020-11-01")] == [5, 5, 1]


@pytest.mark.parametrize("ratio", [10, 0.1])
def test_a_reverse_split_is_turned_as_its_figures_turn_it(ratio):
    witnesses = facts(SEEN.format("100.00", "105.00"), "USD/shares")
    splits = list_splits([told(ratio, "2020-06-30", "2020-08-01")], witnesses)

    assert find_split_factor(splits, BEFORE_ALL, None) == pytest.approx(0.1)


def test_a_split_announced_ahead_leaves_its_announcement_in_old_shares():
    ahead = [told(10, "2024-06-07", "2024-05-29"), told(10, "2024-06-07", "2024-08-28")]
    splits = list_splits(ahead)

    assert [find_split_factor(splits, day, None) for day in ("2024-05-29", "2024-06-06", "2024-06-07")] == [10, 10, 1]
    assert [find_split_factor(splits, BEFORE_ALL, day) for day in ("2024-05-28", "2024-05-29")] == [1, 10]


@pytest.mark.parametrize(("months", "effective"), [("2020-12-06", "2020-12-06"), ("2020-12-07", "2020-08-28")])
def test_the_last_day_near_the_first_one_is_the_split_s(months, effective):
    """A hundred days from 2020-08-28 are near, one more is another period's day; both were told in one report."""
    both = [told(5, "2020-08-28", "2021-02-01"), told(5, months, "2021-02-01", accession="z")]

    assert list_splits(both)[0].effective == effective


def test_a_later_filing_dates_a_split_that_the_first_one_states_for_a_year():
    year, day = told(5, "2020-12-31", "2021-02-01", "2020-01-01"), told(5, "2020-08-28", "2022-02-01")

    assert list_splits([year, day]) == [Split("2020-08-28", 5, "2021-02-01")]


def test_splits_of_one_for_one_and_nonsense_are_ignored():
    assert list_splits([told(value, "2020-08-28", "2020-10-01") for value in (1, 0, -4)]) == []


@pytest.mark.parametrize(
    ("precise", "coarse", "is_one"),
    [
        (394328, 394300, True), (394328, 394000, True), (394328, 394329, False), (394328, 394328, False),
        (394300, 394328, False), (0, 0.001, False), (199, 200, True), (101, 100, True), (1011, 1000, False),
        (1.234, 1.23, True), (1.239, 1.23, True), (1.24, 1.23, False), (-394328, -394300, True),
    ],
)  # fmt: skip
def test_a_rounded_value_has_fewer_digits_and_is_near(precise, coarse, is_one):
    assert is_rounding(precise, coarse) is is_one


@pytest.mark.parametrize(
    ("before", "after", "unit", "ratios", "kind"),
    [
        (394328, 394300, "USD", [], "rounded"), (394300, 394328, "USD", [], "rounded"),
        (100, 95, "USD", [], "restated"), (100, 25, "USD", [4], "restated"),
        (6.00, 1.50, "USD/shares", [4], "split"), (6.00, 1.50, "USD/shares", [7], "restated"),
        (6.00, 1.50, "USD/shares", [], "split"), (6.00, 2.40, "USD/shares", [], "restated"),
        (1500, 6000, "shares", [4], "split"), (6000, 1500, "shares", [4], "restated"),
        (1500, 6070, "shares", [4], "restated"), (1500, 6050, "shares", [4], "split"),
        (1.01, 0.25, "USD/shares", [4], "split"), (0.05, 0.01, "USD/shares", [4], "restated"),
        (6.00, -1.50, "USD/shares", [4], "restated"), (0, 1.50, "USD/shares", [4], "restated"),
        (1.50, 0, "USD/shares", [4], "restated"), (10, 1000, "shares", [], "split"),
        (10, 1010, "shares", [], "restated"), (10, 20, "shares", [], "split"),
        (1000, 1010.5, "shares", [], "restated"),
    ],
)  # fmt: skip
def test_the_kind_of_a_change(before, after, unit, ratios, kind):
    assert classify_change(before, after, unit, ratios) == kind
