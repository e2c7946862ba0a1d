"""What must hold on all recordings, whatever the numbers are."""

import random
from collections import defaultdict

import pytest

from fingerpost.filings.concepts import FLOW, find_metric, list_metrics
from fingerpost.filings.figure import FigureOptions
from fingerpost.filings.period_filter import read_period_filter
from fingerpost.filings.periods import QUARTER, YEAR
from fingerpost.filings.resolver import resolve
from tests.filings.conftest import RECORDED, read_recorded

TICKERS = sorted(RECORDED)
FLOWS = [metric for metric in list_metrics() if metric.kind == FLOW]
# Filers round each period for itself: four quarters may miss the year by two of its last digits.
ROUNDING = 2_000_000


def value(library, ticker, metric, period, **options):
    company = library.find_company(ticker)
    found = library.select_figures(
        company, library.find_metric(company, metric), read_period_filter(None, None, period), FigureOptions(**options)
    )
    (figure,) = found.headline
    return figure.value, figure.fact.accession


@pytest.mark.parametrize(
    ("ticker", "metric", "period", "answer"),
    [
        ("AAPL", "Revenue", "2022", (394328000000, "0000320193-22-000108")),
        ("AAPL", "Revenue", "2022-Q2", (97278000000, "0000320193-22-000059")),
        ("AAPL", "Revenue", "2022-Q4", (90146000000, "0000320193-22-000108")),
        ("AAPL", "net income", "2022", (99803000000, "0000320193-22-000108")),
        ("NVDA", "sales", "2024", (60922000000, "0001045810-24-000029")),
        ("META", "Revenue", "2020", (85965000000, "0001326801-21-000014")),
    ],
)
def test_known_figures(recorded, ticker, metric, period, answer):
    """Checked by hand against the filings."""
    assert value(recorded, ticker, metric, period) == answer


def test_a_year_that_the_filing_calls_wrongly_is_called_as_the_company_does(recorded):
    """NVIDIA's fiscal 2012 ended in January 2012, though that report's ``fy`` says 2011."""
    assert value(recorded, "NVDA", "Revenue", "2012")[0] == 3997930000


def years_and_quarters(library, ticker, metric, options):
    years, quarters = {}, defaultdict(dict)
    for figure in library.series(library.find_company(ticker), metric, options).figures:
        if figure.period == YEAR:
            years[figure.fiscal_year] = figure
        elif figure.period == QUARTER:
            quarters[figure.fiscal_year][figure.fiscal_quarter] = figure
    return {year: (figure, list(quarters[year].values())) for year, figure in years.items() if len(quarters[year]) == 4}


def is_of_one_making(year, quarters):
    """Whether all five were told under tags of one kind, and none of them was changed later."""
    parts = [year, *quarters]
    return len({part.tier for part in parts}) == 1 and not any(part.restated or part.notes for part in parts)


@pytest.mark.parametrize("ticker", TICKERS)
def test_four_quarters_make_the_year(recorded, ticker):
    """But for rounding, wherever none of the five was restated; a hundred years and metrics at the least."""
    checked, wrong = 0, []
    for metric in FLOWS:
        for name, (year, quarters) in years_and_quarters(recorded, ticker, metric, FigureOptions()).items():
            if is_of_one_making(year, quarters):
                checked += 1
                if abs(sum(quarter.value for quarter in quarters) - year.value) > ROUNDING:
                    wrong.append((metric.name, name))

    assert (wrong, checked >= 100) == ([], True)


@pytest.mark.parametrize("ticker", TICKERS)
def test_no_two_quarters_bear_one_name(recorded, ticker):
    """A slip of one day in a filing does not make a fifth quarter."""
    twice = []
    for metric in list_metrics():
        seen = set()
        for figure in recorded.series(recorded.find_company(ticker), metric, FigureOptions()).figures:
            name = (figure.fiscal_year, figure.fiscal_quarter)
            if figure.period == QUARTER and name in seen:
                twice.append((metric.name, name))
            seen |= {name} if figure.period == QUARTER else set()

    assert twice == []


@pytest.mark.parametrize("ticker", TICKERS)
def test_as_of_the_last_day_is_latest(recorded, ticker):
    """Nothing was filed later."""
    company = recorded.find_company(ticker)
    for metric in list_metrics():
        latest = recorded.series(company, metric, FigureOptions())

        assert recorded.series(company, metric, FigureOptions(as_of="2026-12-31")).figures == latest.figures


@pytest.mark.parametrize("ticker", TICKERS)
@pytest.mark.parametrize("as_of", ["2013-06-30", "2016-12-31", "2020-09-01"])
def test_an_answer_as_of_a_day_cites_nothing_later(recorded, ticker, as_of):
    """Neither the value, nor its parts, nor its revisions, nor its alternatives."""
    company = recorded.find_company(ticker)
    cited = [
        fact.filed
        for metric in list_metrics()
        for figure in recorded.series(company, metric, FigureOptions(as_of=as_of)).figures
        for fact in (
            figure.fact,
            *(part.fact for part in figure.parts),
            *(revision.fact for revision in figure.values),
            *figure.alternatives,
        )
    ]

    assert max(cited) <= as_of


@pytest.mark.parametrize("ticker", TICKERS)
def test_the_day_before_filing_hides_a_figure(recorded, ticker):
    """Each year's revenue is unknown until the day of its report."""
    company, metric = recorded.find_company(ticker), find_metric("Revenue")
    for figure in recorded.series(company, metric, FigureOptions(vintage="original")).figures:
        if figure.period == YEAR:
            hidden = recorded.series(company, metric, FigureOptions(as_of=_day_before(figure.fact.filed)))
            shown = recorded.series(company, metric, FigureOptions(as_of=figure.fact.filed))
            periods = [[(f.start, f.end) for f in series.figures] for series in (hidden, shown)]

            assert [(figure.start, figure.end) in known for known in periods] == [False, True]


def _day_before(day):
    from datetime import date, timedelta

    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()


@pytest.mark.parametrize("ticker", TICKERS)
def test_assets_are_liabilities_and_equity(recorded, ticker):
    """As the filing tags them, at every instant that has both."""
    company = recorded.find_company(ticker)
    sides = [
        {f.end: f.value for f in recorded.series(company, find_metric(name), FigureOptions(vintage="original")).figures}
        for name in ("Assets", "LiabilitiesAndEquity")
    ]
    both = sides[0].keys() & sides[1].keys()

    assert ([day for day in both if sides[0][day] != sides[1][day]], len(both) > 20) == ([], True)


@pytest.mark.parametrize("ticker", TICKERS)
def test_shuffled_and_doubled_rows_change_nothing(recorded, ticker):
    """The file's order is an accident."""
    company, calendar = recorded.find_company(ticker), recorded.calendar(recorded.find_company(ticker))
    rows = read_recorded(ticker).facts
    for name in ("Revenue", "NetIncome", "EPSDiluted", "Assets", "OperatingCashFlow"):
        metric = find_metric(name)
        own = [fact for fact in rows if fact.concept in metric.concepts]
        shuffled = random.Random(7).sample(own, len(own)) + own[::3]
        again = resolve(metric, shuffled, calendar=calendar, splits=recorded.splits(company), currency="USD")

        assert again.figures == recorded.series(company, metric, FigureOptions()).figures


def test_splits_are_told_once(recorded):
    """NVIDIA's filings give its 10:1 and its 4:1 two days each; Apple's 7:1 and 4:1 are told seven times."""
    told = {
        ticker: [split.ratio for split in recorded.splits(recorded.find_company(ticker))] for ticker in ("AAPL", "NVDA")
    }

    assert told == {"AAPL": [7, 4], "NVDA": [4, 10]}


def test_earnings_per_share_over_two_splits(recorded):
    """Apple's 15.15 dollars of fiscal 2010 are 0.54 in today's shares: 28 for one."""
    assert value(recorded, "AAPL", "EPS", "2010", vintage="split_adjusted")[0] == pytest.approx(0.541071)


def test_every_shipped_figure_stands_in_the_recording(sample):
    """The table that ships holds no number, day, form, accession, unit or fiscal year that the filings do not."""
    from fingerpost.filings.sample import read_sample

    strangers = []
    for company in read_sample():
        ticker = company.tickers[0]
        recorded_file = read_recorded(ticker)
        strangers += [fact for fact in company.facts if fact not in set(recorded_file.facts)]
        strangers += sorted(company.fiscal_years.items() - recorded_file.fiscal_years.items())
        assert company.cik == recorded_file.cik

    assert strangers == []


@pytest.mark.parametrize("ticker", TICKERS)
def test_the_sample_answers_as_the_recording_does(recorded, sample, ticker):
    """Wherever the sample has a figure under the latest vintage, it is the full recording's."""
    company = sample.find_company(ticker)
    known = {}
    for metric in list_metrics():
        for figure in recorded.series(recorded.find_company(ticker), metric, FigureOptions()).figures:
            known[metric.name, figure.start, figure.end] = (figure.value, figure.fact.accession, figure.fiscal_year)
    wrong = [
        (metric.name, figure.end, figure.value)
        for metric in list_metrics()
        for figure in sample.series(company, metric, FigureOptions()).figures
        if figure.period in (YEAR, "instant")
        and known.get((metric.name, figure.start, figure.end))
        != (figure.value, figure.fact.accession, figure.fiscal_year)
    ]

    assert wrong == []
