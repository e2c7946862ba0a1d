"""Which value answers a query, and which filing it cites."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.filings.concepts import find_metric
from fingerpost.filings.figure import FigureOptions
from fingerpost.filings.periods import FiscalCalendar
from fingerpost.filings.resolver import resolve
from fingerpost.filings.revisions import Split
from tests.filings.drawing import facts

YEARS = FiscalCalendar([("2021-12-31", 2021), ("2022-12-31", 2022), ("2023-12-31", 2023)])


def figures(drawing, metric="Revenue", *, unit="USD", splits=(), **options):
    drawn, asked = facts(drawing, unit), FigureOptions(**options)
    return resolve(find_metric(metric), drawn, calendar=YEARS, splits=splits, options=asked).figures


def told(drawing, **asked):
    """Return period, year of the end, value, filing and, where it is not simply reported, kind of every figure."""
    return [
        f"{f.period} {f.end[:4]} {f.value} {f.fact.accession} {f.kind}".removesuffix(" reported")
        for f in figures(drawing, **asked)
    ]


COMPARATIVE = """
Revenues 2021-01-01 2021-12-31 90  old 10-K 2022-02-01
Revenues 2021-01-01 2021-12-31 90  new 10-K 2023-02-01
Revenues 2022-01-01 2022-12-31 100 new 10-K 2023-02-01
"""
YEAR_TO_DATE = """
Revenues 2022-01-01 2022-06-30 221 a 10-Q 2022-08-01
Revenues 2022-04-01 2022-06-30 97  a 10-Q 2022-08-01
"""
YEAR_AND_NINE_MONTHS = """
Revenues 2022-01-01 2022-09-30 70  q3 10-Q 2022-11-01
Revenues 2022-01-01 2022-12-31 100 fy 10-K 2023-02-01
"""
EPS = """
EarningsPerShareDiluted 2022-01-01 2022-09-30 0.70 q3 10-Q 2022-11-01
EarningsPerShareDiluted 2022-01-01 2022-12-31 1.00 fy 10-K 2023-02-01
"""
AS_EPS = {"metric": "EPS", "unit": "USD/shares"}
AMENDED = """
Revenues 2022-01-01 2022-12-31 100 k  10-K   2023-02-01
Revenues 2022-01-01 2022-12-31 95  ka 10-K/A 2023-06-01
"""
RECAST = """
Revenues 2021-01-01 2021-12-31 80  r 8-K  2023-05-01
Revenues 2022-01-01 2022-12-31 1   r 8-K  2023-05-01
Revenues 2022-01-01 2022-12-31 100 k 10-K 2023-02-01
"""
TWO_TAGS = """
Revenues                                            2022-01-01 2022-12-31 100 k 10-K 2023-02-01
RevenueFromContractWithCustomerExcludingAssessedTax 2022-01-01 2022-12-31 92  k 10-K 2023-02-01
"""
PART_ALONE = "RevenueFromContractWithCustomerExcludingAssessedTax 2022-01-01 2022-12-31 92 n 10-K 2024-02-01"
BANK = """
Revenues                     2022-01-01 2022-12-31 150 k 10-K 2023-02-01
RevenuesNetOfInterestExpense 2022-01-01 2022-12-31 100 k 10-K 2023-02-01
"""


@pytest.mark.parametrize(
    ("drawing", "asked", "expected"),
    [
        # Two rows of one filing are two years; a repeated value cites the filing that stated it first.
        (COMPARATIVE, {}, ["FY 2021 90 old", "FY 2022 100 new"]),
        # The year to date and the quarter end on one day, in one filing.
        (YEAR_TO_DATE, {}, ["H1 2022 221 a", "Q 2022 97 a"]),
        # The fourth quarter is the year less nine months, unless the filer states it.
        (YEAR_AND_NINE_MONTHS, {}, ["9M 2022 70 q3", "FY 2022 100 fy", "Q 2022 30 fy derived"]),
        (
            YEAR_AND_NINE_MONTHS + "Revenues 2022-10-01 2022-12-31 31 fy 10-K 2023-02-01", {},
            ["9M 2022 70 q3", "FY 2022 100 fy", "Q 2022 31 fy"],
        ),
        # The share count changes over the year, so figures per share are not subtracted.
        (EPS, AS_EPS, ["9M 2022 0.7 q3", "FY 2022 1.0 fy"]),
        # Latest cites the amendment, original the first filing; a day sees what was filed until then.
        (AMENDED, {}, ["FY 2022 95 ka"]),
        (AMENDED, {"vintage": "original"}, ["FY 2022 100 k"]),
        (AMENDED, {"as_of": "2023-06-01"}, ["FY 2022 95 ka"]),
        (AMENDED, {"as_of": "2023-05-31"}, ["FY 2022 100 k"]),
        (AMENDED, {"as_of": "2023-02-01"}, ["FY 2022 100 k"]),
        (AMENDED, {"as_of": "2023-01-31"}, []),
        # A proxy statement repeats figures outside the reports; a recast answers only where nothing else does.
        ("Revenues 2022-01-01 2022-12-31 1 p DEF14A 2024-05-01", {}, []),
        (RECAST, {}, ["FY 2021 80 r", "FY 2022 100 k"]),
        # A part that was seen beside its total stays a part where it stands alone later.
        (TWO_TAGS + PART_ALONE, {}, ["FY 2022 100 k"]),
        # A bank's revenue is net of interest expense; the gross figure is larger.
        (BANK, {}, ["FY 2022 100 k"]),
        ("ifrs-full:Revenue 2022-01-01 2022-12-31 100 f 20-F 2023-03-01", {}, ["FY 2022 100 f"]),
    ],
)  # fmt: skip
def test_which_value_answers_and_which_filing_it_cites(drawing, asked, expected):
    assert told(drawing, **asked) == expected


def test_the_largest_revenue_tag_answers_and_the_other_is_reported():
    (figure,) = figures(TWO_TAGS)
    others = [(fact.concept, fact.value) for fact in figure.alternatives]

    assert (figure.value, others) == (100, [("us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax", 92)])


# A new standard brings a new tag and a new number.
NEW_TAG = """
SalesRevenueNet                                     2021-01-01 2021-12-31 100 k  10-K 2022-02-01
RevenueFromContractWithCustomerExcludingAssessedTax 2021-01-01 2021-12-31 97  k2 10-K 2023-02-01
"""
# 394,328 thousand told again as 394,300 is the same figure with fewer digits.
ROUNDED = """
Revenues 2022-01-01 2022-12-31 394328 k 10-K 2023-02-01
Revenues 2022-01-01 2022-12-31 394300 n 10-K 2024-02-01
"""
SPLIT = AS_EPS | {"splits": (Split("2022-06-03", 4, "2022-08-20"),)}
BEFORE_SPLIT = "EarningsPerShareDiluted 2021-01-01 2021-12-31 6.00 k 10-K 2022-02-01\n"
AFTER_SPLIT = BEFORE_SPLIT + "EarningsPerShareDiluted 2021-01-01 2021-12-31 1.50 n 10-K 2023-02-01"


@pytest.mark.parametrize(
    ("drawing", "asked", "value", "kind"),
    [(NEW_TAG, {}, 97, "restated"), (ROUNDED, {}, 394328, "rounded"), (AFTER_SPLIT, SPLIT, 1.5, "split")],
)
def test_the_difference_between_two_filings_is_named(drawing, asked, value, kind):
    (figure,) = figures(drawing, **asked)

    assert (figure.value, [revision.kind for revision in figure.values]) == (value, ["original", kind])


def test_currencies_are_never_mixed():
    own = facts("Revenues 2022-01-01 2022-12-31 100 k 20-F 2023-02-01", "EUR")
    other = facts("Revenues 2021-01-01 2021-12-31 120 k 20-F 2023-02-01", "USD")
    series = resolve(find_metric("Revenue"), own + other, calendar=YEARS, currency="EUR")

    assert [(figure.value, figure.unit) for figure in series.figures] == [(100, "EUR")]


MIXED = facts(COMPARATIVE + AMENDED + YEAR_AND_NINE_MONTHS + TWO_TAGS)


@given(st.permutations(MIXED), st.lists(st.sampled_from(MIXED), max_size=5))
def test_the_order_of_the_facts_and_repeated_facts_change_nothing(shuffled, repeated):
    metric = find_metric("Revenue")

    assert resolve(metric, shuffled + repeated, calendar=YEARS) == resolve(metric, MIXED, calendar=YEARS)
