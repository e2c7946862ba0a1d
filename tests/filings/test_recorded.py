"""Properties that hold for all recordings, whatever the numbers are."""

import pytest

from fingerpost.filings.concepts import find_metric, list_metrics
from fingerpost.filings.periods import QUARTER
from fingerpost.filings.store import read_sample
from tests.filings.conftest import RECORDED, read_recorded
from tests.filings.drawing import figures_of, window

TICKERS = sorted(RECORDED)


def value(library, ticker, metric, period, **options):
    source = figures_of(library, ticker, **options)
    (figure,) = source.select(source.find_metric(metric), window(period)).headline
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
        # It ended in January 2012, though that report's ``fy`` says 2011.
        ("NVDA", "Revenue", "2012", (3997930000, "0001045810-12-000013")),
    ],
)
def test_figures_that_were_checked_by_hand_are_found(recorded, ticker, metric, period, answer):
    assert value(recorded, ticker, metric, period) == answer


@pytest.mark.parametrize("ticker", TICKERS)
def test_no_two_quarters_bear_one_name(recorded, ticker):
    twice = []
    for metric in list_metrics():
        figures = figures_of(recorded, ticker).series(metric).figures
        names = [(each.fiscal_year, each.fiscal_quarter) for each in figures if each.period == QUARTER]
        twice += [metric.name] if len(set(names)) < len(names) else []

    assert twice == []


@pytest.mark.parametrize("ticker", TICKERS)
@pytest.mark.parametrize("as_of", ["2013-06-30", "2016-12-31", "2020-09-01"])
def test_an_answer_as_of_a_day_cites_nothing_later(recorded, ticker, as_of):
    source = figures_of(recorded, ticker, as_of=as_of)
    figures = [figure for metric in list_metrics() for figure in source.series(metric).figures]
    cited = [fact for figure in figures for fact in (figure.fact, *figure.alternatives)]
    cited += [part.fact for figure in figures for part in (*figure.parts, *figure.values)]

    assert max(fact.filed for fact in cited) <= as_of


@pytest.mark.parametrize("ticker", TICKERS)
def test_assets_are_liabilities_and_equity(recorded, ticker):
    source = figures_of(recorded, ticker, vintage="original")
    sides = [
        {f.end: f.value for f in source.series(find_metric(name)).figures}
        for name in ("Assets", "LiabilitiesAndEquity")
    ]
    both = sides[0].keys() & sides[1].keys()

    assert ([day for day in both if sides[0][day] != sides[1][day]], len(both) > 20) == ([], True)


def test_splits_are_reported_once(recorded):
    """Two days for each split of NVIDIA; Apple's 15.15 dollars per share in fiscal 2010 are 0.54 today: 28 for one."""
    assert [split.ratio for split in figures_of(recorded, "NVDA").splits] == [4, 10]
    assert value(recorded, "AAPL", "EPS", "2010", vintage="split_adjusted")[0] == pytest.approx(0.541071)


def test_every_shipped_figure_is_in_the_recording(sample):
    strangers = []
    for file, listing in read_sample():
        recorded_file = read_recorded(listing["tickers"][0])
        strangers += [fact for fact in file.facts if fact not in set(recorded_file.facts)]
        strangers += sorted(file.fiscal_years.items() - recorded_file.fiscal_years.items())
        assert file.cik == recorded_file.cik

    assert strangers == []
