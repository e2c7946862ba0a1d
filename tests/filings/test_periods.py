"""What a period is called."""

import pytest

from fingerpost.filings.periods import FiscalCalendar, class_of, name_years


@pytest.mark.parametrize(
    ("start", "end", "kind"),
    [
        ("", "2022-09-24", "instant"),
        ("2021-09-26", "2022-09-24", "FY"),
        ("2021-12-26", "2022-03-26", "Q"),
        ("2021-09-26", "2022-03-26", "H1"),
        ("2021-09-26", "2022-06-25", "9M"),
        ("2022-01-01", "2022-03-16", "other"),
        ("2022-01-01", "2022-03-17", "Q"),
        ("2022-01-01", "2022-04-16", "Q"),
        ("2022-01-01", "2022-04-17", "other"),
        ("2022-01-01", "2022-12-16", "other"),
        ("2022-01-01", "2022-12-17", "FY"),
    ],
)
def test_a_period_is_named_by_its_length(start, end, kind):
    """Days between start and end decide: 75 to 105 are a quarter, 350 to 380 a year; one day beyond is neither."""
    assert class_of(start, end) == kind


APPLE = FiscalCalendar([("2021-09-25", 2021), ("2022-09-24", 2022), ("2023-09-30", 2023)])


@pytest.mark.parametrize(
    ("end", "place"),
    [
        ("2021-12-25", (2022, 1)),
        ("2022-03-26", (2022, 2)),
        ("2022-06-25", (2022, 3)),
        ("2022-09-24", (2022, 4)),
        ("2022-12-31", (2023, 1)),
        ("2023-12-30", (2024, 1)),
        ("2024-09-28", (2024, 4)),
        ("2019-09-28", (2019, 4)),
        ("2019-12-28", (2020, 1)),
    ],
)
def test_a_day_lies_in_the_fiscal_year_that_ends_next(end, place):
    """Also beyond the years that are known, a whole number of years away."""
    assert APPLE.place(end) == place


def test_without_any_annual_report_the_calendar_year_names_the_year():
    """A company that has filed no annual report yet."""
    assert FiscalCalendar([]).place("2022-06-30") == (2022, 2)


def test_an_annual_report_that_calls_its_year_wrongly_is_outvoted():
    """NVIDIA's report on the year to January 2012 says 2011; the years around it leave room for 2012 alone."""
    reported = [
        ("2010-01-31", "2010-03-18", 2010),
        ("2012-01-29", "2012-03-13", 2011),
        ("2015-01-25", "2015-03-12", 2015),
        ("2016-01-31", "2016-03-17", 2016),
    ]

    assert name_years(reported)["2012-01-29"] == 2012


def test_the_earliest_filing_names_a_year():
    """An amendment that says otherwise changes nothing."""
    assert name_years([("2022-12-31", "2023-05-01", 2023), ("2022-12-31", "2023-02-01", 2022)]) == {"2022-12-31": 2022}
