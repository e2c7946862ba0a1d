"""Names of periods, and the headline figure for a range of dates (rule F3)."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.errors import ParameterError
from fingerpost.filings.concepts import find_metric
from fingerpost.filings.period_filter import PeriodFilter, read_period
from fingerpost.filings.periods import FiscalCalendar, assign_fiscal_years, classify_period
from fingerpost.filings.store import FactStore
from tests.filings.drawing import ask, company_file, facts, figures_of, library_of, refusal


@pytest.mark.parametrize(
    ("start", "end", "kind"),
    [
        ("", "2022-09-24", "instant"), ("2021-09-26", "2022-09-24", "FY"), ("2021-12-26", "2022-03-26", "Q"),
        ("2021-09-26", "2022-03-26", "H1"), ("2021-09-26", "2022-06-25", "9M"),
        ("2022-01-01", "2022-03-16", "other"), ("2022-01-01", "2022-03-17", "Q"),
        ("2022-01-01", "2022-04-16", "Q"), ("2022-01-01", "2022-04-17", "other"),
        ("2022-01-01", "2022-12-16", "other"), ("2022-01-01", "2022-12-17", "FY"),
    ],
)  # fmt: skip
def test_a_period_is_named_by_its_length(start, end, kind):
    assert classify_period(start, end) == kind


APPLE = FiscalCalendar([("2021-09-25", 2021), ("2022-09-24", 2022), ("2023-09-30", 2023)])


@pytest.mark.parametrize(
    ("end", "place"),
    [
        ("2021-12-25", (2022, 1)), ("2022-03-26", (2022, 2)), ("2022-06-25", (2022, 3)), ("2022-09-24", (2022, 4)),
        ("2022-12-31", (2023, 1)), ("2023-12-30", (2024, 1)), ("2024-09-28", (2024, 4)), ("2019-09-28", (2019, 4)),
        ("2019-12-28", (2020, 1)),
    ],
)  # fmt: skip
def test_a_day_lies_in_the_fiscal_year_that_ends_next(end, place):
    assert APPLE.find_period(end) == place


def test_the_earliest_filing_names_a_year():
    assert assign_fiscal_years([("2022-12-31", "2023-05-01", 2023), ("2022-12-31", "2023-02-01", 2022)]) == {
        "2022-12-31": 2022
    }


def years_of(first, count, month):
    """Fiscal years that end on the last day of a month, named by their end's year."""
    ends = [date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1) for year in range(first, first + count)]
    return [(end.isoformat(), end.year) for end in ends]


@given(st.integers(1, 12), st.integers(1, 11), st.integers(1, 6), st.integers(1, 6), st.integers(-1, 1))
def test_a_year_end_that_moves_leaves_every_year_its_name(month, moved, before, after, naming):
    old = years_of(2010, before, month)
    shift = month + moved
    new = years_of(2010 + before + shift // 13, after, (shift - 1) % 12 + 1)
    named = [(end, year + naming) for end, year in old + new]
    reported = [(end, f"{int(end[:4]) + 1}{end[4:]}", year) for end, year in named]

    assert assign_fiscal_years(reported) == dict(named)
    calendar = FiscalCalendar(named)
    assert [calendar.find_period(end) for end, _ in named] == [(year, 4) for _, year in named]


def test_one_slip_in_a_long_row_is_outvoted_before_and_after_a_move():
    """As NVIDIA's report on the year to January 2012, which says 2011: years with the same year end decide."""
    right = [*years_of(2010, 4, 6), *years_of(2014, 4, 12)]
    slipped = [(end, year - (end in ("2012-06-30", "2016-12-31"))) for end, year in right]

    assert assign_fiscal_years([(end, f"{int(end[:4]) + 1}{end[4:]}", year) for end, year in slipped]) == dict(right)


def test_without_annual_reports_the_calendar_names_days_and_reports():
    calendar = FiscalCalendar([])

    assert calendar.find_period("2022-06-30") == (2022, 2)
    assert [calendar.find_report_period("2022-05-10", is_annual=annual) for annual in (True, False)] == [
        (2021, 4), (2022, 1),
    ]  # fmt: skip
    assert [calendar.find_quarter(day) for day in ("2022-03-31", "2022-04-01")] == [(2022, 1), (2022, 2)]


def test_without_annual_reports_no_balance_is_of_a_year(tmp_path):
    drawn = facts("Assets - 2023-03-31 2 q1 10-Q 2023-05-01\nAssets - 2023-06-30 3 q2 10-Q 2023-08-01")
    library = library_of(tmp_path / "f.sqlite", drawn)

    assert ask(library, "financial_facts", ticker="DRWN", metrics=["TotalAssets"], period="2023-Q2").data == {
        "TotalAssets": 3
    }
    assert refusal(library, "financial_facts", ticker="DRWN", metrics=["TotalAssets"], period="2023")


@pytest.mark.parametrize(
    ("first", "last", "headline"),
    [
        # No filing states the fourth quarter: it is the year without the three before.
        ("2022-06-26", "2022-09-24", ["90146 derived"]),
        ("2022-03-27", "2022-06-25", ["82959 reported"]),
        # 300 days may mean the year that ends in them; one day less means the quarters.
        ("2021-11-29", "2022-09-24", ["394328 reported"]),
        ("2021-11-30", "2022-09-24", ["123945 reported", "97278 reported", "82959 reported", "90146 derived"]),
    ],
)
def test_days_of_a_quarter_give_the_quarter_and_of_a_year_the_year(sample, first, last, headline):
    found = figures_of(sample, "AAPL").select(find_metric("Revenue"), PeriodFilter(first=first, last=last))

    assert [f"{figure.value // 10**6} {figure.kind}" for figure in found.headline] == headline


# The report on the third quarter is filed after the year's end.
LATE = """
Revenues 2022-01-01 2022-12-31 10 k22 10-K 2023-03-01
Revenues 2023-01-01 2023-06-30 4  q2  10-Q 2023-08-01
Revenues 2023-01-01 2023-09-30 7  q3  10-Q 2024-02-20
Revenues 2023-07-01 2023-09-30 3  q3  10-Q 2024-02-20
Revenues 2022-07-01 2022-09-30 2  q3  10-Q 2024-02-20
Assets   -          2024-02-15 9  q3  10-Q 2024-02-20
"""


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    return library_of(tmp_path_factory.mktemp("late") / "f.sqlite", facts(LATE), {"2022-12-31": 2022})


@pytest.mark.parametrize(
    ("period", "as_of", "answered"),
    [
        ("latest", None, "2023-Q3"),
        ("latest", "2024-02-19", "2023-Q2"),
        ("latest-annual", None, "2022"),
        ("latest", "2023-03-01", "2022"),
    ],
)
def test_the_latest_period_is_the_one_that_the_newest_report_is_on(late, period, as_of, answered):
    assert figures_of(late, as_of=as_of).resolve_period(read_period(period)).period == answered


def test_before_the_first_report_there_is_no_latest_period(late):
    asked = {"metrics": ["Revenue"], "period": "latest", "as_of": "2023-02-28"}
    error = refusal(late, "financial_facts", ticker="DRWN", **asked)
    compared = ask(late, "compare", tickers=["DRWN", "AAPL"], **asked)

    assert "no annual or quarterly report of Drawn" in error.message
    assert error.details["missing"]["latest"]["reason"] == "hidden_by_as_of"
    assert (list(compared.data), list(compared.missing)) == (["AAPL"], ["DRWN"])


def test_a_report_on_an_older_period_that_was_filed_late_is_not_the_latest(tmp_path):
    drawn = facts(LATE + "Revenues 2021-01-01 2021-12-31 9 k21 10-K 2024-03-01\n")
    source = figures_of(library_of(tmp_path / "f.sqlite", drawn, {"2021-12-31": 2021, "2022-12-31": 2022}))

    assert source.resolve_period(read_period("latest")).period == "2023-Q3"


def test_an_as_of_hides_only_reports_that_there_are(tmp_path):
    drawn = facts("Revenues 2022-01-01 2022-12-31 10 e22 8-K 2023-03-01")
    library = library_of(tmp_path / "f.sqlite", drawn)
    asked = {"metrics": ["Revenue"], "period": "latest", "as_of": "2023-06-30"}

    missing = refusal(library, "financial_facts", ticker="DRWN", **asked).details["missing"]
    assert missing["latest"]["reason"] == "not_reported"


def test_a_report_of_two_ciks_is_counted_under_both(tmp_path):
    def draw(year, tags):
        return facts("\n".join(f"{tag} {year}-01-01 {year}-12-31 1 k 10-K 2023-02-01" for tag in tags))

    library = library_of(tmp_path / "f.sqlite", draw(2022, "ABCDEF"), {"2022-12-31": 2022})
    other = company_file(draw(2022, "A") + draw(2021, "BCDEFGH"), {"2022-12-31": 2022}, cik=8)
    FactStore(library.path).put_facts(other, tickers=["DRWN"])

    assert figures_of(library).resolve_period(read_period("latest")).period == "2022"


@pytest.mark.parametrize(
    ("text", "periods"),
    [("2019..2021", ["2019", "2020", "2021"]), ("2019-Q3..2020-q2", ["2019-Q3", "2019-Q4", "2020-Q1", "2020-Q2"])],
)
def test_a_range_has_each_period_from_its_first_to_its_last(text, periods):
    assert [period.period for period in read_period(text).list_periods()] == periods


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2010-Q1..2020-Q1", "has 41 periods; at most 40"),
        ("2020..2019", "ends before it begins"),
        ("2019..2020-Q2", "two years, or of two quarters"),
        ("2019..latest", "two years, or of two quarters"),
        ("2019..", "must be a fiscal year or quarter"),
        ("2019..2020..2021", "must be a fiscal year or quarter"),
    ],
)
def test_a_range_that_cannot_be_meant_is_refused_with_the_reason(text, why):
    with pytest.raises(ValueError, match=why):
        read_period(text)


def test_a_range_returns_each_year_and_names_missing_ones(recorded):
    years = ask(recorded, "financial_facts", ticker="AAPL", metrics=["Revenue", "Nonsense"], period="2004..2022")
    values = [point["value"] // 10**6 for point in years.data["Revenue"]]
    later = ask(recorded, "time_series", ticker="AAPL", metric="Revenue", period="2021-Q4..2022-Q1").data["Revenue"]
    compared = ask(recorded, "compare", tickers=["AAPL", "NVDA"], metrics=["Revenue"], period="2021..2022")
    counted = ask(recorded, "calculate", ticker="AAPL", expression="growth(Revenue)", period="2021..2022")

    assert values[-4:] == [260174, 274515, 365817, 394328]
    assert len(values) + len(years.missing) - 1 == 19
    assert [years.missing[name]["reason"] for name in ("Revenue 2004", "Nonsense")] == ["before_xbrl", "unknown_metric"]
    assert [point["value"] // 10**6 for point in later] == [83360, 123945]
    assert {ticker: len(data["Revenue"]) for ticker, data in compared.data.items()} == {"AAPL": 2, "NVDA": 2}
    assert [row["fiscal_year"] for row in counted.results] == [2021, 2022]


def test_a_claim_is_of_one_period_and_a_statement_of_fiscal_ones(recorded):
    with pytest.raises(ParameterError, match="must be one period here"):
        ask(recorded, "verify_claim", ticker="AAPL", period="2019..2020", metric="Revenue", relation="is_record")
    with pytest.raises(ParameterError, match="must be a fiscal period here"):
        ask(recorded, "statement", ticker="AAPL", period="ttm", statement="income")


def ttm_of(library, metrics, **fields):
    return ask(library, "financial_facts", ticker="AAPL", metrics=metrics, period="ttm", **fields)


def test_the_trailing_year_is_the_sum_of_the_last_four_quarters(recorded):
    found = ttm_of(recorded, ["Revenue", "Assets", "EPSDiluted"])
    quarters = ask(recorded, "financial_facts", ticker="AAPL", metrics=["Revenue"], period="2025-Q2..2026-Q1")
    (row,) = found.results

    assert found.data["Revenue"] == sum(point["value"] for point in quarters.data["Revenue"]) == 435_617_000_000
    assert (row["period_type"], row["fiscal_period"], row["start_date"]) == ("ttm", "TTM", "2024-12-29")
    assert [found.missing[name]["reason"] for name in ("Assets", "EPSDiluted")] == ["not_derivable"] * 2


def test_after_an_annual_report_the_trailing_year_is_the_fiscal_year(recorded):
    found = ttm_of(recorded, ["Revenue", "EPSDiluted", "Assets"], as_of="2025-11-15")

    assert [(row["metric_name"], row["fiscal_period"], row["kind"]) for row in found.results] == [
        ("Revenue", "FY", "reported"), ("EPSDiluted", "FY", "reported"),
    ]  # fmt: skip
    assert list(found.missing) == ["Assets"]


def test_a_trailing_year_is_compared_with_the_one_a_year_before(recorded):
    (row,) = ask(recorded, "calculate", ticker="AAPL", expression="growth(Revenue)", period="ttm").results
    now, before = (part["value"] for part in row["inputs"])

    assert (now, before, row["fiscal_period"]) == (435_617_000_000, 395_760_000_000, "TTM")


TRAILING = """
Revenues 2022-01-01 2022-12-31 40 k22 10-K 2023-02-01
Revenues 2023-01-01 2023-03-31 10 q1  10-Q 2023-05-01
Revenues 2023-04-01 2023-06-30 10 q2  10-Q 2023-08-01
Revenues 2023-07-01 2023-09-30 10 q3  10-Q 2023-11-01
Revenues 2023-01-01 2023-12-31 40 k23 10-K 2024-02-01
Revenues 2023-01-01 2023-09-30 30 q3  10-Q 2023-11-01
Revenues 2024-01-01 2024-03-31 10 p1  10-Q 2024-05-01
"""


# The last filing may restate the first quarter of the year before, and not yet the others.
@pytest.mark.parametrize("restated", ["2023-04-01 2023-06-30 7", "2023-01-01 2023-12-31 44", "2023-01-01 2023-03-31 9"])
def test_quarters_that_are_not_on_the_same_basis_are_not_summed(tmp_path, restated):
    drawn = facts(TRAILING + f"Revenues {restated} p1 10-Q 2024-05-01")
    asked = {"ticker": "DRWN", "metrics": ["Revenue"], "period": "ttm"}
    library = library_of(tmp_path / "f.sqlite", drawn, {"2022-12-31": 2022, "2023-12-31": 2023})
    error = refusal(library, "financial_facts", **asked)

    assert error.details["missing"]["Revenue"]["reason"] == "not_comparable"
    assert ask(library, "financial_facts", **asked, as_of="2024-02-01").data == {"Revenue": 40}
