"""Splitting a filing's text into its items."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fingerpost.filings.sections import split_sections

ITEMS = {
    "1": ("Business", "business"),
    "1A": ("Risk Factors", "risk_factors"),
    "1B": ("Unresolved Staff Comments", "unresolved_staff_comments"),
    "1C": ("Cybersecurity", "cybersecurity"),
    "2": ("Properties", "properties"),
    "3": ("Legal Proceedings", "legal_proceedings"),
    "4": ("Mine Safety Disclosures", "mine_safety"),
    "5": ("Market for Registrant\u2019s Common Equity and Related Stockholder Matters", "market_for_equity"),
    "6": ("[Reserved]", "selected_financial_data"),
    "7": ("Management\u2019s Discussion and Analysis of Financial Condition and Results of Operations", "mdna"),
    "7A": ("Quantitative and Qualitative Disclosures About Market Risk", "market_risk"),
    "8": ("Financial Statements and Supplementary Data", "financial_statements"),
    "9": ("Changes in and Disagreements with Accountants", "accountant_changes"),
    "9A": ("Controls and Procedures", "controls"),
    "9B": ("Other Information", "other_information"),
    "10": ("Directors, Executive Officers and Corporate Governance", "directors"),
    "11": ("Executive Compensation", "executive_compensation"),
    "12": ("Security Ownership of Certain Beneficial Owners and Management", "security_ownership"),
    "13": ("Certain Relationships and Related Transactions", "related_transactions"),
    "14": ("Principal Accountant Fees and Services", "accountant_fees"),
    "15": ("Exhibits and Financial Statement Schedules", "exhibits"),
    "16": ("Form 10-K Summary", "summary"),
}

HEADINGS = st.sampled_from(
    [
        "Item {number}. {title}",
        "ITEM {number}. {upper}",
        "Item {number} \u2014 {title}",
        "Item\u00a0{number}.   {title}.",
        "Item {number}.\n{title}",
        "ITEM {number}: {upper}",
    ]
)
CONTENTS = st.sampled_from(
    ["", "Item {number}. {title} {page}", "Item {number}. {title} .......... {page}", "Item {number}.\n{title}\n{page}"]
)
BODIES = st.sampled_from(
    [
        "None.",
        "Not applicable.",
        "We sell ink to painters.\nOur ink may run dry; see Item 7 of this report for what that costs us.",
        "As described in\nItem 1A of our last report, ink may run dry. " * 3,
        "Costs rose by 8 % in 2022. " * 20,
    ]
)


def sections(text, form="10-K"):
    return [(each.section_type, each.text) for each in split_sections(text, form)]


@example("Item {number}. {title}", "Item {number}. {title} {page}", ["None."] * len(ITEMS), False, True)
@example("Item {number}. {title}", "Item {number}.\n{title}\n{page}", ["None."] * len(ITEMS), False, True)
@settings(max_examples=150)
@given(HEADINGS, CONTENTS, st.lists(BODIES, min_size=len(ITEMS), max_size=len(ITEMS)), st.booleans(), st.booleans())
def test_every_item_of_a_report_is_one_section(heading, contents, bodies, has_headers, has_preface):
    lines = ["UNITED STATES SECURITIES AND EXCHANGE COMMISSION", "TABLE OF CONTENTS"]
    if contents:
        lines += ["PART I"] + [
            contents.format(number=number, title=title, page=3 + place)
            for place, (number, (title, _)) in enumerate(ITEMS.items())
        ]
    if has_preface:
        lines += ["Forward-looking statements are guesses. " * 30]
    lines += ["PART I"]
    expected = []
    for (number, (title, kind)), body in zip(ITEMS.items(), bodies, strict=True):
        lines.append(heading.format(number=number, title=title, upper=title.upper()))
        told = body.strip()
        if has_headers and number == "7":
            header = f"Item {number}. {title} (continued)"
            told = f"{told}\n{header}\n{told}"
        lines.append(told)
        expected.append((kind, told))
    found = sections("\n".join(lines))

    assert found[0][0] == "front_matter"
    assert found[1:] == expected


def test_an_item_mentioned_in_passing_is_not_a_section():
    text = """Item 1A. Risk Factors
Ink may run dry, as we say in
Item 7. Management's Discussion and Analysis of this report, where costs are told.
And it may dry too fast.
Item 2. Properties
A shed.
Item 7. Management's Discussion and Analysis
Ink costs rose, and rose again, and then they fell; nobody knows why, and nobody asked anybody about it at all.
"""

    assert [kind for kind, _ in sections(text)] == ["risk_factors", "properties", "mdna"]


QUARTER = """PART I. FINANCIAL INFORMATION
Item 1. Financial Statements (Unaudited)
Figures.
Item 2. Management's Discussion and Analysis
They rose.
PART II. OTHER INFORMATION
Item 1. Legal Proceedings
Two.
Item 1A. Risk Factors
As before.
Item 2. Unregistered Sales of Equity Securities
None sold.
"""


def test_the_items_of_a_quarterly_report_restart_in_its_second_part():
    kinds = ["financial_statements", "mdna", "legal_proceedings", "risk_factors", "equity_sales"]
    without = "\n".join(line for line in QUARTER.splitlines() if not line.startswith("PART"))

    found = [[kind for kind, _ in sections(text, "10-Q")] for text in (QUARTER, without)]
    assert found == [["front_matter", *kinds], kinds]


def test_the_items_of_a_current_report_have_two_numbers():
    text = "Item 2.02 Results of Operations\nSales rose.\nItem 9.01. Financial Statements and Exhibits\n99.1 A release."

    assert split_sections(text, "8-K") == [
        ("results_of_operations", "Item 2.02. Results of Operations", "Sales rose."),
        ("exhibits", "Item 9.01. Financial Statements and Exhibits", "99.1 A release."),
    ]


def test_no_part_of_a_text_is_dropped():
    assert sections("Ink is dear.\nItem 7 is a number.") == [("full_text", "Ink is dear.\nItem 7 is a number.")]
    assert sections("Drawn Inc.\nItem 1. Business\nInk.") == [("front_matter", "Drawn Inc."), ("business", "Ink.")]


def test_items_one_and_two_may_share_a_section():
    text = "Items 1 and 2. Business and Properties\nA mine.\nItem 3. Legal Proceedings\nNo."

    assert sections(text) == [("business", "A mine."), ("legal_proceedings", "No.")]


@pytest.mark.parametrize(("title", "kind"), [("Risk factors", "risk_factors"), ("Key Information", "other")])
def test_another_form_is_cut_by_its_titles(title, kind):
    assert sections(f"Item 3. {title}\nInk may run dry.", "20-F") == [(kind, "Ink may run dry.")]
