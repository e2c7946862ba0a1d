"""Claims: what was understood wholly is judged, and never wrongly; the rest is not judged."""

from collections import Counter
from random import Random

import pytest

from fingerpost.errors import DataNotFound, ParameterError
from fingerpost.filings.claims import read_claim, verify_claim
from fingerpost.filings.companyfacts import FactsFile
from fingerpost.filings.fact import Fact
from fingerpost.filings.figure import FigureOptions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from tests.filings.claim_sentences import METRICS, STALE, YEARS, Writer, draw_companies
from tests.filings.drawing import facts, library_of

SENTENCES = 2_000
LEAST_JUDGED = 0.6


def file_of(company):
    """A drawn company's annual reports: each year's states its figures, the newest restates what was restated."""
    rows = []
    for (tag, year), value in company.figures.items():
        start = "" if tag == "Assets" else f"{year}-01-01"
        stated = company.earlier.get((tag, year), value)
        for amount, filed in ((stated, year + 1), (value, year + 2)):
            row = Fact(
                f"us-gaap:{tag}",
                company.currency,
                start,
                f"{year}-12-31",
                amount,
                f"k{filed}",
                "10-K",
                f"{filed}-02-01",
            )
            rows.append(row)
    return FactsFile(
        cik=company.cik,
        name=company.names[1],
        facts=rows,
        labels={f"us-gaap:{tag}": tag for tag in METRICS},
        fiscal_years={f"{year}-12-31": year for year in YEARS},
        currency=company.currency,
        complete_through="2024-02-01",
        first_end="2020-12-31",
    )


def verdict(library, sentence, **given):
    """The verdict on a sentence; a refusal to read or find is one too."""
    try:
        return verify_claim(library, read_claim(library, sentence, **given), FigureOptions()).data["verdict"]
    except (ParameterError, DataNotFound) as error:
        return type(error).__name__


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("394328", "cannot_judge"),
        ("$394,328", "cannot_judge"),
        ("394,328,000", "cannot_judge"),
        ("not 394.3", "cannot_judge"),
        ("394,329", "contradicted"),
        ("$394.328 billion", "confirmed"),
        ("$394,328,000,000", "confirmed"),
        ("$394,328 thousand", "contradicted"),
    ],
)
def test_a_number_without_its_scale_may_be_copied_from_a_table(tmp_path, number, expected):
    """A table in millions says so in its heading, which the sentence has lost."""
    drawn = facts("Revenues 2022-01-01 2022-12-31 394328000000 k22 10-K 2023-02-15")
    library = library_of(tmp_path / "f.sqlite", drawn, {"2022-12-31": 2022})

    assert verdict(library, f"DRWN revenue was {number} in fiscal 2022") == expected


def test_two_thousand_sentences_are_judged_rightly_or_not_at_all(tmp_path):
    """Four currencies, negations, ranges, growth, comparisons, two years, two metrics: none wrong, most judged."""
    random = Random(18)
    companies = draw_companies(random)
    store = FactStore(tmp_path / "f.sqlite")
    for company in companies:
        store.put_facts(file_of(company), tickers=[company.ticker])
    library = FactLibrary(store.path)
    writer = Writer(random, companies)
    told = Counter()
    wrong = []
    for _ in range(SENTENCES):
        sentence, truth = writer.write()
        found = verdict(library, sentence)
        told[found] += 1
        if found not in (truth, "cannot_judge"):
            wrong.append((sentence, truth, found))

    assert wrong == []
    assert told["cannot_judge"] <= (1 - LEAST_JUDGED) * SENTENCES
    assert min(told["confirmed"], told["contradicted"], told[STALE]) >= 50


APPLE = "Apple's revenue in fiscal 2022"


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("Apple 2022 revenue was $394.3B", "confirmed"),
        ("Apple 2022 revenue was $394.2B", "contradicted"),
        ("NVIDIA EPS in fiscal 2021 was 6.90", "stale_vintage"),
        (f"{APPLE} was at least $394,328 million", "confirmed"),
        (f"{APPLE} exceeded $394,328 million", "contradicted"),
        (f"{APPLE} was at most $394,328 million", "confirmed"),
        (f"{APPLE} was below $394,328 million", "contradicted"),
        (f"{APPLE} was between $394,328 million and $1 trillion", "confirmed"),
        (f"{APPLE} was between $394,329 million and $1 trillion", "contradicted"),
        (f"{APPLE} was between $1 million and $394,328 million", "confirmed"),
        (f"{APPLE} was $390-395 billion", "confirmed"),
        (f"{APPLE} was $380\u2013390 billion", "contradicted"),
        (f"{APPLE} reached $394.3 billion", "confirmed"),
        (f"{APPLE} reached $390 billion", "cannot_judge"),
        (f"{APPLE} reached $400 billion", "contradicted"),
        (f"{APPLE} was about $358.5 billion", "cannot_judge"),
        (f"{APPLE} was about $358.4 billion", "contradicted"),
        ("Apple's revenue, up 8%, was $394.3 billion in 2022", "confirmed"),
        ("Apple's revenue grew 7-8 % in 2022", "confirmed"),
        ("Apple's revenue grew between 8 and 9 percent in 2022", "contradicted"),
        ("Apple's revenue grew 8% in Q4 2022", "cannot_judge"),
        ("Apple's revenue rose by $28.5 billion in 2022", "confirmed"),
        ("Apple's revenue did not rise by $28.5 billion in 2022", "contradicted"),
        ("Apple's revenue rose in 2022", "confirmed"),
        ("Apple's revenue fell in 2022", "contradicted"),
        ("Apple's revenue was higher than NVIDIA's in 2022", "confirmed"),
        ("Apple's net loss was $99.8 billion in 2022", "contradicted"),
        ("Apple's net income was -$99.8 billion in 2022", "contradicted"),
        ("Apple's net income was ($99.8 billion) in 2022", "contradicted"),
        ("Apple's revenue was not $394.3 billion but $400 billion in 2022", "contradicted"),
        ("Apple's revenue was $394.3 billion, not $400 billion, in 2022", "confirmed"),
        ("Apple's EPS was $6.11 per share in FY22", "confirmed"),
        ("Apple's revenue was $394.3 billion per share in 2022", "cannot_judge"),
        ("Apple's revenue was 394.3 billion shares in 2022", "cannot_judge"),
        ("Apple's net sales for the first quarter of fiscal 2022 were $123.9 billion", "confirmed"),
        ("Apple's net sales in Q1 FY2022 were $123.8 billion", "contradicted"),
    ],
)
def test_verdicts_on_reported_figures(sample, claim, found):
    """Each relation at its bound; Apple's fiscal 2022: 394,328 million after 365,817, net income 99,803 million."""
    assert verdict(sample, claim) == found


@pytest.mark.parametrize(
    ("claim", "given", "field"),
    [
        ("Revenue was $394.3 billion in 2022", {}, "ticker"),
        ("Apple was $394.3 billion in 2022", {}, "metric"),
        ("Apple's revenue was $394.3 billion", {}, "period"),
    ],
)
def test_what_a_claim_leaves_out_is_asked_for(sample, claim, given, field):
    """Every word is understood; one thing was not said."""
    with pytest.raises(ParameterError) as caught:
        read_claim(sample, claim, **given)

    assert caught.value.details["field"] == field


def test_what_is_given_beside_a_claim_need_not_stand_in_it(sample):
    """Company, metric and year; where the sentence says otherwise, nothing is judged."""
    given = {"ticker": "AAPL", "metric": "Revenue", "period": "2022"}

    assert verdict(sample, "It was $394.3 billion", **given) == "confirmed"
    assert verdict(sample, "Revenue was $394.3 billion in 2022", **given) == "confirmed"
    assert [
        verdict(sample, claim, **given)
        for claim in (
            "NVIDIA's revenue was $394.3 billion",
            "Net income was $394.3 billion",
            "Revenue was $394.3 billion in 2021",
        )
    ] == ["cannot_judge"] * 3


def test_what_was_not_understood_is_named(sample):
    """Word for word, neighbours together."""
    claim = read_claim(sample, "Apple's wearables and services revenue was roundabout $394.3 billion in 2022")

    assert claim.not_understood == ("wearables", "services", "roundabout")


RETAILER = """
Revenues 2021-01-31 2022-01-29 106 k21 10-K 2022-03-01
Revenues 2022-01-30 2023-01-28 109 k22 10-K 2023-03-01
"""


def test_a_year_that_may_be_either_of_two_is_not_judged(tmp_path):
    """The year to January 2023 is fiscal 2022; "2022" may as well be the year that ended in January 2022."""
    library = library_of(tmp_path / "f.sqlite", facts(RETAILER), {"2022-01-29": 2021, "2023-01-28": 2022})
    sentences = ("DRWN's revenue in {} was $106", "DRWN's revenue in {} was $109", "DRWN's revenue in {} was $200")
    named = [verdict(library, sentence.format("fiscal 2022")) for sentence in sentences]
    plain = [verdict(library, sentence.format("2022")) for sentence in sentences]

    assert (named, plain) == (
        ["contradicted", "confirmed", "contradicted"],
        ["cannot_judge", "cannot_judge", "contradicted"],
    )


TWO_TAGS = """
Revenues                                            2022-01-01 2022-12-31 100 k 10-K 2023-02-01
RevenueFromContractWithCustomerExcludingAssessedTax 2022-01-01 2022-12-31 92  k 10-K 2023-02-01
"""


def test_a_claim_that_agrees_with_a_neighbouring_tag_is_not_contradicted(tmp_path):
    """Net sales of 92 beside total revenues of 100: a sentence may mean either."""
    library = library_of(tmp_path / "f.sqlite", facts(TWO_TAGS), {"2022-12-31": 2022})
    sentences = ("DRWN's sales in 2022 were $100", "DRWN's sales in 2022 were $92", "DRWN's sales in 2022 were $93")

    assert [verdict(library, each) for each in sentences] == ["confirmed", "cannot_judge", "contradicted"]


SPLIT = """
EarningsPerShareDiluted 2021-01-01 2021-12-31 6.00 k21 10-K 2022-02-01
EarningsPerShareDiluted 2022-01-01 2022-12-31 1.80 k22 10-K 2023-02-01
"""


def test_growth_over_a_split_is_not_judged(tmp_path):
    """1.80 after 6.00 is a growth of 20 % over a split of four for one."""
    ratio = facts("StockholdersEquityNoteStockSplitConversionRatio1 - 2022-06-03 4 k22 10-K 2023-02-01", "pure")
    drawn = facts(SPLIT, "USD/shares") + ratio
    library = library_of(tmp_path / "f.sqlite", drawn, {"2021-12-31": 2021, "2022-12-31": 2022})
    claim = read_claim(library, "DRWN's EPS fell 70% in 2022")
    adjusted = read_claim(library, "DRWN's EPS grew 20% in 2022")

    assert verify_claim(library, claim, FigureOptions()).data["verdict"] == "cannot_judge"
    assert verify_claim(library, adjusted, FigureOptions(vintage="split_adjusted")).data["verdict"] == "confirmed"


def test_a_dollar_sign_is_not_the_sign_of_every_dollar(tmp_path):
    """A company that reports in Canadian dollars."""
    drawn = facts("Revenues 2022-01-01 2022-12-31 100 k 40-F 2023-02-01", "CAD")
    library = library_of(tmp_path / "f.sqlite", drawn, {"2022-12-31": 2022}, currency="CAD")
    sentences = ("DRWN's revenue in 2022 was {}100", "DRWN's revenue in 2022 was not {}100")

    assert [verdict(library, each.format(sign)) for sign in ("$", "C$", "CAD ", "") for each in sentences] == [
        "cannot_judge",
        "cannot_judge",
        *["confirmed", "contradicted"] * 3,
    ]


def test_growth_from_a_loss_is_no_percentage(tmp_path):
    """From -50 to 100; the same in dollars is a sum."""
    drawing = """
    NetIncomeLoss 2021-01-01 2021-12-31 -50 k21 10-K 2022-02-01
    NetIncomeLoss 2022-01-01 2022-12-31 100 k22 10-K 2023-02-01
    """
    library = library_of(tmp_path / "f.sqlite", facts(drawing), {"2021-12-31": 2021, "2022-12-31": 2022})
    sentences = (
        "DRWN's net income grew 300% in 2022",
        "DRWN's net income rose by $150 in 2022",
        "DRWN's net loss was $50 in 2021",
        "DRWN's net income rose in 2022",
    )

    assert [verdict(library, each) for each in sentences] == ["cannot_judge", "confirmed", "confirmed", "confirmed"]


def test_a_claim_of_two_parts_says_of_each_how_it_was_judged(tmp_path):
    """And whose data that is; where one part cannot be judged, why that one."""
    drawn = facts("""
    Revenues 2021-01-01 2021-12-31 100 k21 10-K 2022-02-15
    Revenues 2022-01-01 2022-12-31 120 k22 10-K 2023-02-15
    """)
    library = library_of(tmp_path / "f.sqlite", drawn, {"2021-12-31": 2021, "2022-12-31": 2022})

    def judged(sentence):
        return verify_claim(library, read_claim(library, sentence), FigureOptions())

    both = judged("DRWN revenue was $120 in fiscal 2022 and $90 in fiscal 2021")
    unclear = judged("DRWN revenue was $120 in fiscal 2022 and €90 in fiscal 2021")

    assert [part["verdict"] for part in both.data["parts"]] == ["confirmed", "contradicted"]
    assert [part["explanation"].partition(" in 10-K")[0] for part in both.data["parts"]] == [
        "Drawn Inc. states Revenue of 120 USD for fiscal 2022",
        "Drawn Inc. states Revenue of 100 USD for fiscal 2021",
    ]
    assert (both.source["complete_through"], len(both.results)) == ("2023-02-15", 2)
    assert unclear.data == {"verdict": "cannot_judge", "not_understood": []}
    assert unclear.extra["explanation"] == "the claim is in EUR, Drawn Inc. reports in USD"
    assert judged("DRWN revenue was maybe $120, perhaps").extra["explanation"] == (
        'not every word of the claim was understood: "maybe", "perhaps"'
    )
