"""Which figure is the headline of a window of days (rule F3), on Apple's figures of the sample that ships."""

import pytest

from fingerpost.filings.concepts import find_metric
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import PeriodFilter
from tests.filings.drawing import figures_of

YEAR_2022 = 394_328_000_000
FOURTH = 90_146_000_000


@pytest.fixture(scope="module")
def headline():
    """The headline figures of Apple's revenue between two days, as (value, kind)."""
    source = figures_of(FactLibrary(None), "AAPL")

    def ask(first, last):
        found = source.select(find_metric("Revenue"), PeriodFilter(first=first, last=last))
        return [(figure.value, figure.kind) for figure in found.headline]

    return ask


def test_the_days_of_a_quarter_give_the_quarter(headline):
    """Nobody filed the fourth: it is the year without the three before, and says that it is derived."""
    assert headline("2022-06-26", "2022-09-24") == [(FOURTH, "derived")]
    assert headline("2022-03-27", "2022-06-25") == [(82_959_000_000, "reported")]


def test_a_window_of_300_days_may_mean_the_year_that_ends_in_it(headline):
    """One day less does not: it holds the quarters that end in it."""
    assert headline("2021-11-29", "2022-09-24") == [(YEAR_2022, "reported")]
    quarters = headline("2021-11-30", "2022-09-24")

    assert (len(quarters), quarters[-1]) == (4, (FOURTH, "derived"))
    assert sum(value for value, _ in quarters) == YEAR_2022
