"""Which value answers, and which filing it cites."""

from hypothesis import given
from hypothesis import strategies as st

from fingerpost.filings.concepts import find_metric
from fingerpost.filings.figure import FigureOptions
from fingerpost.filings.periods import FiscalCalendar
from fingerpost.filings.resolver import resolve
from fingerpost.filings.revisions import Split
from tests.filings.drawing import facts

YEARS = FiscalCalendar([("2021-12-31", 2021), ("2022-12-31", 2022), ("2023-12-31", 2023)])


def told(drawing, metric="Revenue", *, unit="USD", splits=(), **options):
    """Return (class, end, value, accession, kind) of every figure."""
    series = resolve(
        find_metric(metric), facts(drawing, unit), calendar=YEARS, splits=splits, options=FigureOptions(**options)
    )
    return [(f.period, f.end, f.value, f.fact.accession, f.kind) for f in series.figures]


def figures(drawing, metric="Revenue", *, unit="USD", splits=(), **options):
    series = resolve(
        find_metric(metric), facts(drawing, unit), calendar=YEARS, splits=splits, options=FigureOptions(**options)
    )
    return series.figures


COMPARATIVE = """
Revenues 2021-01-01 2021-12-31 90  old 10-K 2022-02-01
Revenues 2021-01-01 2021-12-31 90  new 10-K 2023-02-01
Revenues 2022-01-01 2022-12-31 100 new 10-K 2023-02-01
"""


def test_a_comparative_is_its_own_year_and_cites_the_first_filing():
    """Two rows of one filing are two years; the repeated value stays with the filing that stated it first."""
    assert told(COMPARATIVE) == [
        ("FY", "2021-12-31", 90, "old", "reported"),
        ("FY", "2022-12-31", 100, "new", "reported"),
    ]


def test_the_year_to_date_is_not_the_quarter():
    """Both end on one day, in one filing; only their starts differ."""
    drawing = """
    Revenues 2022-01-01 2022-06-30 221 a 10-Q 2022-08-01
    Revenues 2022-04-01 2022-06-30 97  a 10-Q 2022-08-01
    """

    assert told(drawing) == [("H1", "2022-06-30", 221, "a", "reported"), ("Q", "2022-06-30", 97, "a", "reported")]


YEAR_AND_NINE_MONTHS = """
Revenues 2022-01-01 2022-09-30 70  q3 10-Q 2022-11-01
Revenues 2022-01-01 2022-12-31 100 fy 10-K 2023-02-01
"""


def test_the_fourth_quarter_is_the_year_less_nine_months():
    """It is called derived, and cites the filing that completes it and both parts."""
    fourth = next(f for f in figures(YEAR_AND_NINE_MONTHS) if f.period == "Q")

    assert (fourth.start, fourth.value, fourth.kind, fourth.formula) == ("2022-10-01", 30, "derived", "FY - 9M")
    assert [part.fact.accession for part in fourth.parts] == ["fy", "q3"]


def test_a_stated_fourth_quarter_is_not_derived():
    """What the filer says wins."""
    stated = YEAR_AND_NINE_MONTHS + "Revenues 2022-10-01 2022-12-31 31 fy 10-K 2023-02-01"

    assert [(f.value, f.kind) for f in figures(stated) if f.period == "Q"] == [(31, "reported")]


EPS = """
EarningsPerShareDiluted 2022-01-01 2022-09-30 0.70 q3 10-Q 2022-11-01
EarningsPerShareDiluted 2022-01-01 2022-12-31 1.00 fy 10-K 2023-02-01
"""


def test_a_figure_per_share_is_never_subtracted_unless_an_estimate_is_asked_for():
    """The share count changes over the year."""
    assert [f.kind for f in figures(EPS, "EPS", unit="USD/shares") if f.period == "Q"] == []
    assert [(f.value, f.kind) for f in figures(EPS, "EPS", unit="USD/shares", estimate=True) if f.period == "Q"] == [
        (0.3, "estimated")
    ]


AMENDED = """
Revenues 2022-01-01 2022-12-31 100 k  10-K   2023-02-01
Revenues 2022-01-01 2022-12-31 95  ka 10-K/A 2023-06-01
"""


def test_vintages():
    """Latest cites the amendment, original the first filing, and a day between them still sees the first."""
    assert [
        told(AMENDED)[0][2:4],
        told(AMENDED, vintage="original")[0][2:4],
        told(AMENDED, as_of="2023-05-31")[0][2:4],
    ] == [
        (95, "ka"),
        (100, "k"),
        (100, "k"),
    ]


def test_as_of_the_day_of_filing_sees_it_and_the_day_before_does_not():
    """A boundary of one day."""
    assert [len(told(AMENDED, as_of=day)) for day in ("2023-01-31", "2023-02-01")] == [0, 1]


def test_a_proxy_statement_is_not_a_source():
    """A DEF 14A and a prospectus repeat figures outside the reports."""
    assert told("Revenues 2022-01-01 2022-12-31 1 p DEF14A 2024-05-01") == []


def test_an_8k_answers_only_where_nothing_else_does():
    """A recast is better than silence, and worse than a report."""
    recast = "Revenues 2021-01-01 2021-12-31 80 r 8-K 2023-05-01\nRevenues 2022-01-01 2022-12-31 1 r 8-K 2023-05-01\n"

    assert [row[2:4] for row in told(recast + "Revenues 2022-01-01 2022-12-31 100 k 10-K 2023-02-01")] == [
        (80, "r"),
        (100, "k"),
    ]


TWO_TAGS = """
Revenues                                            2022-01-01 2022-12-31 100 k 10-K 2023-02-01
RevenueFromContractWithCustomerExcludingAssessedTax 2022-01-01 2022-12-31 92  k 10-K 2023-02-01
"""


def test_the_largest_of_the_revenue_family_answers_and_the_other_is_told():
    """A retailer's total, not its net sales."""
    figure = figures(TWO_TAGS)[0]

    assert (figure.value, [(fact.concept, fact.value) for fact in figure.alternatives]) == (
        100,
        [("us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax", 92)],
    )


def test_a_part_that_stands_alone_in_a_later_filing_is_not_a_restatement():
    """The tag was seen beside the total before; alone it is still a part."""
    later = "RevenueFromContractWithCustomerExcludingAssessedTax 2022-01-01 2022-12-31 92 n 10-K 2024-02-01"

    assert told(TWO_TAGS + later)[0][2:4] == (100, "k")


def test_a_change_of_tag_is_followed_as_a_restatement():
    """A new standard brings a new tag and a new number: the later one is the latest vintage."""
    drawing = """
    SalesRevenueNet                                     2021-01-01 2021-12-31 100 k  10-K 2022-02-01
    RevenueFromContractWithCustomerExcludingAssessedTax 2021-01-01 2021-12-31 97  k2 10-K 2023-02-01
    """
    figure = figures(drawing)[0]

    assert (figure.value, [revision.kind for revision in figure.values]) == (97, ["original", "restated"])


def test_a_bank_s_revenue_is_net_of_interest_expense():
    """The gross figure is larger, and is not what the bank calls its revenue."""
    drawing = """
    Revenues                     2022-01-01 2022-12-31 150 k 10-K 2023-02-01
    RevenuesNetOfInterestExpense 2022-01-01 2022-12-31 100 k 10-K 2023-02-01
    """

    assert told(drawing)[0][2] == 100


def test_a_later_rounding_does_not_replace_the_exact_figure():
    """394,328 thousand told again as 394,300 is the same figure with fewer digits."""
    drawing = """
    Revenues 2022-01-01 2022-12-31 394328 k 10-K 2023-02-01
    Revenues 2022-01-01 2022-12-31 394300 n 10-K 2024-02-01
    """
    figure = figures(drawing)[0]

    assert (figure.value, [revision.kind for revision in figure.values]) == (394328, ["original", "rounded"])


SPLIT = (Split("2022-06-03", 4, "2022-08-20"),)
BEFORE_SPLIT = "EarningsPerShareDiluted 2021-01-01 2021-12-31 6.00 k 10-K 2022-02-01\n"


def test_a_split_is_named_as_one():
    """6.00 before a 4:1 split and 1.50 after it is no restatement."""
    after = BEFORE_SPLIT + "EarningsPerShareDiluted 2021-01-01 2021-12-31 1.50 n 10-K 2023-02-01"
    figure = figures(after, "EPS", unit="USD/shares", splits=SPLIT)[0]

    assert (figure.value, [revision.kind for revision in figure.values]) == (1.5, ["original", "split"])


def test_a_figure_from_before_a_split_is_divided_only_when_asked():
    """As reported it is 6.00, with a note; split adjusted it is 1.50."""
    plain = figures(BEFORE_SPLIT, "EPS", unit="USD/shares", splits=SPLIT)[0]
    adjusted = figures(BEFORE_SPLIT, "EPS", unit="USD/shares", splits=SPLIT, vintage="split_adjusted")[0]

    assert (plain.value, len(plain.notes), adjusted.value, adjusted.kind) == (6.0, 1, 1.5, "derived")


def test_currencies_are_never_mixed():
    """A series is in the company's own currency, whatever else it files."""
    own = facts("Revenues 2022-01-01 2022-12-31 100 k 20-F 2023-02-01", "EUR")
    other = facts("Revenues 2021-01-01 2021-12-31 120 k 20-F 2023-02-01", "USD")
    series = resolve(find_metric("Revenue"), own + other, calendar=YEARS, currency="EUR")

    assert [(figure.value, figure.unit) for figure in series.figures] == [(100, "EUR")]


def test_ifrs_tags_answer_for_those_who_file_them():
    """A foreign issuer's annual report under IFRS."""
    assert told("ifrs-full:Revenue 2022-01-01 2022-12-31 100 f 20-F 2023-03-01")[0][2:4] == (100, "f")


MIXED = facts(COMPARATIVE + AMENDED + YEAR_AND_NINE_MONTHS + TWO_TAGS)


@given(st.permutations(MIXED), st.lists(st.sampled_from(MIXED), max_size=5))
def test_the_order_of_the_facts_and_repeated_facts_change_nothing(shuffled, repeated):
    """What answers depends on what was filed, not on how the file lists it."""
    metric = find_metric("Revenue")

    assert resolve(metric, shuffled + repeated, calendar=YEARS) == resolve(metric, MIXED, calendar=YEARS)
