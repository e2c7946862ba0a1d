"""Figures by segment, product and region, from hand-written XBRL instances."""

import pytest

from fingerpost.errors import FeedUnusable, ParameterError
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.loading import LoadOptions, load_files
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_financial_data import SecFinancialData
from fingerpost.filings.xbrl import read_instance, read_labels
from tests.filings.drawing import company_file, facts

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<xbrl xmlns="http://www.xbrl.org/2003/instance" xmlns:ink="http://ink.example/2023" xmlns:d="http://xbrl.sec.gov/dei/2023"
  xmlns:iso4217="http://www.xbrl.org/2003/iso4217" xmlns:link="http://www.xbrl.org/2003/linkbase"
  xmlns:srt="http://fasb.org/srt/2023" xmlns:us-gaap="http://fasb.org/us-gaap/2023"
  xmlns:xbrldi="http://xbrl.org/2006/xbrldi" xmlns:xlink="http://www.w3.org/1999/xlink"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<link:schemaRef xlink:href="ink-20231231.xsd" xlink:type="simple"/>
<unit id="usd"><measure>iso4217:USD</measure></unit>
<unit id="eps"><divide><unitNumerator><measure>iso4217:USD</measure></unitNumerator>
  <unitDenominator><measure>shares</measure></unitDenominator></divide></unit>
"""
COVER = (
    '<d:EntityCentralIndexKey contextRef="total">7</d:EntityCentralIndexKey>'
    '<d:EntityRegistrantName contextRef="total">Drawn Ink Corp.</d:EntityRegistrantName>'
    '<d:DocumentType contextRef="total">10-K</d:DocumentType>'
    '<d:DocumentPeriodEndDate contextRef="total">{year}-12-31</d:DocumentPeriodEndDate>'
)
PRODUCT, SEGMENT, ITEMS = (
    "srt:ProductOrServiceAxis",
    "us-gaap:StatementBusinessSegmentsAxis",
    "srt:ConsolidationItemsAxis",
)
LABELS = """<linkbase xmlns="http://www.xbrl.org/2003/linkbase" xmlns:x="http://www.w3.org/1999/xlink"><labelLink>
<loc x:label="a" x:href="ink-20231231.xsd#ink_BlackMember"/><loc x:label="b" x:href="srt.xsd#srt_ProductOrServiceAxis"/>
<labelArc x:from="a" x:to="la"/><labelArc x:from="b" x:to="lb"/>
<label x:label="la" x:role="http://www.xbrl.org/2003/role/label" xml:lang="en-US">Black Ink [Member]</label>
<label x:label="la" x:role="http://www.xbrl.org/2003/role/terseLabel" xml:lang="en-US">Black ink</label>
<label x:label="la" x:role="http://www.xbrl.org/2003/role/documentation">All of it.</label>
<label x:label="lb" x:role="http://www.xbrl.org/2003/role/label" xml:lang="en-US">Products [Axis]</label>
</labelLink></linkbase>"""


def instance(*revenue, year=2023):
    """Return an instance with a fact of revenue for each (value, {axis: member}) or (value, {...}, more attributes)."""
    contexts, elements = [], []
    for number, (value, members, *attributes) in enumerate(revenue):
        explicit = "".join(
            f'<xbrldi:explicitMember dimension="{axis}">{member}</xbrldi:explicitMember>'
            for axis, member in members.items()
        )
        name = f"c{number}" if members else "total"
        contexts.append(
            f'<context id="{name}"><entity><identifier scheme="http://www.sec.gov/CIK">7</identifier>'
            f"{explicit and f'<segment>{explicit}</segment>'}</entity>"
            f"<period><startDate>{year}-01-01</startDate><endDate>{year}-12-31</endDate></period></context>"
        )
        elements.append(
            f'<us-gaap:Revenues contextRef="{name}" unitRef="usd" {" ".join(attributes)}>{value}</us-gaap:Revenues>'
        )
    return HEAD + "".join([*dict.fromkeys(contexts), COVER.format(year=year), *elements, "</xbrl>"])


def ink(name):
    return f"ink:{name}Member"


PRODUCTS = instance(
    (100, {}), (60, {PRODUCT: ink("Black")}), (25, {PRODUCT: ink("Blue")}), (15, {PRODUCT: ink("Red")}),
    (40, {PRODUCT: ink("Coloured")}),
)  # fmt: skip


@pytest.fixture
def store(tmp_path):
    store = FactStore(tmp_path / "filings.sqlite")
    drawn = facts("Assets - 2022-12-31 1 a-22 10-K 2023-02-01")
    store.put_facts(company_file(drawn, {"2022-12-31": 2022}, name="Drawn Ink Corp."), tickers=["DRWN"])
    return store


@pytest.fixture
def load(store, tmp_path):
    def load(content, *, accession="a-23", filed="2024-02-01", labels=LABELS):
        path = tmp_path / "ink-20231231_htm.xml"
        path.write_text(content, encoding="utf-8")
        if labels:
            (tmp_path / "ink-20231231_lab.xml").write_text(labels, encoding="utf-8")
        return load_files(store, [path], LoadOptions(accession=accession, filed=filed))[0]

    return load


@pytest.fixture
def ask(store):
    async def ask(period="2023", **parameters):
        asked = {"ticker": "DRWN", "metric": "revenue", "period": period, **parameters}
        return await SecFinancialData(FactLibrary(store.path)).execute("segments", asked)

    return ask


def rows(answer):
    return [(row["member_tag"].removeprefix("ink:"), row["value"], row["role"]) for row in answer["results"]]


async def test_members_have_the_filed_names_and_their_filing(load, ask):
    loaded = load(PRODUCTS)
    answer = await ask(axis="product")
    first = answer["results"][0]

    assert loaded == "ink-20231231_htm.xml: Drawn Ink Corp., 10-K of 2024-02-01: 5 facts with segments"
    assert [first[name] for name in ("axis", "member", "member_tag", "value", "accession_number", "fiscal_year")] == [
        "Products", "Black ink", "ink:BlackMember", 60, "a-23", 2023,
    ]  # fmt: skip
    assert answer["data"]["Products"]["Black ink"] == 60
    # A member without a label keeps its tag.
    assert answer["data"]["Products"]["ink:BlueMember"] == 25


async def test_a_subtotal_is_marked_and_not_summed(load, ask):
    load(PRODUCTS)
    answer = await ask()

    assert rows(answer)[2:] == [("RedMember", 15, "part"), ("ColouredMember", 40, "overlapping")]
    assert [answer["sums"][0][name] for name in ("sum", "total", "difference", "omitted")] == [100, 100, 0, 0]


async def test_a_sum_that_differs_from_its_total_is_reported(load, ask):
    load(instance((100, {}), (60, {PRODUCT: ink("Black")}), (25, {PRODUCT: ink("Blue")})))

    for period in ("2023", "latest", "latest-annual"):
        assert [(await ask(period))["sums"][0][name] for name in ("sum", "total", "difference")] == [85, 100, 15]


async def test_two_ways_to_split_a_total_are_not_added(load, ask):
    load(
        instance(
            (100, {}),
            (70, {PRODUCT: ink("Goods")}),
            (30, {PRODUCT: ink("Services")}),
            (50, {PRODUCT: ink("Black")}),
            (26, {PRODUCT: ink("Blue")}),
            (24, {PRODUCT: ink("Red")}),
        )
    )
    answer = await ask()

    assert [role for _, _, role in rows(answer)] == ["overlapping"] * 2 + ["part"] * 3
    assert answer["sums"][0]["difference"] == 0


async def test_reconciling_items_belong_to_the_segments(load, ask):
    all_segments = {ITEMS: "us-gaap:OperatingSegmentsMember"}
    load(
        instance(
            (100, {}),
            (70, {SEGMENT: ink("West"), **all_segments}),
            (40, {SEGMENT: ink("East"), **all_segments}),
            (-10, {ITEMS: "us-gaap:IntersegmentEliminationMember"}),
        )
    )
    answer = await ask(axis="segments")

    assert [role for _, _, role in rows(answer)] == ["part", "part", "reconciling"]
    assert answer["sums"][0]["difference"] == 0


@pytest.mark.parametrize("order", [1, -1])
async def test_a_segment_has_its_value_after_eliminations(load, ask, order):
    segments = [(60, {SEGMENT: ink("West")}), (75, {SEGMENT: ink("West"), ITEMS: "us-gaap:OperatingSegmentsMember"})]
    load(instance((100, {}), *segments[::order], (40, {SEGMENT: ink("East")})))
    answer = await ask()

    assert {row["member_tag"]: row["value"] for row in answer["results"]} == {
        "ink:WestMember": 60,
        "ink:EastMember": 40,
    }
    assert [answer["sums"][0][name] for name in ("difference", "omitted")] == [0, 1]


async def test_a_value_for_members_of_two_axes_is_counted(load, ask):
    black, blue = ({PRODUCT: ink(name)} for name in ("Black", "Blue"))
    load(instance((100, {}), (60, black | {SEGMENT: ink("West")}), (30, blue), (5, blue | {SEGMENT: ink("West")})))
    answer = await ask(axis="product")

    assert rows(answer) == [("BlueMember", 30, "part")]
    assert answer["notes"] == [
        "Products, 2023 FY: 2 values for several members, or before eliminations, are not in the rows"
    ]


@pytest.mark.parametrize(
    ("country", "roles", "difference"), [([12], ["overlapping", "part", "part"], 0), ([], ["part"] * 2, 10)]
)
async def test_members_within_a_member_of_another_axis_are_rows(load, ask, country, roles, difference):
    """They add up, or there are no others: the two regions of the only product, and a country within one of them."""
    west, east = ((value, {PRODUCT: ink("Black"), SEGMENT: ink(name)}) for name, value in (("West", 70), ("East", 30)))
    load(instance((100 + difference, {}), west, east, *((value, {SEGMENT: ink("Inland")}) for value in country)))
    answer, missing = await ask(axis="segment"), (await ask(axis="product"))["missing"]["revenue 2023"]

    assert ([role for _, _, role in rows(answer)], answer["sums"][0]["difference"]) == (roles, difference)
    assert answer["notes"] == [f"{SEGMENT}, fiscal 2023: rows are stated only within members of other axes"]
    assert missing["message"].endswith("by product alone, only by several axes at once")


async def test_a_period_comes_from_the_newest_filing_that_divides_it(load, ask):
    load(PRODUCTS)
    load(instance((100, {}), (100, {PRODUCT: ink("Ink")})), accession="a-24", filed="2024-06-01")
    newest, before = await ask(), await ask(as_of="2024-05-31")

    assert [rows(newest), len(rows(before))] == [[("InkMember", 100, "part")], 4]


async def test_latest_names_a_newer_report_without_segments(store, load, ask):
    drawn = facts("Revenues 2024-01-01 2024-12-31 1 k-24 10-K 2025-02-01")
    store.put_facts(company_file(drawn, {"2024-12-31": 2024}), tickers=["DRWN"])
    load(PRODUCTS)

    assert "No segments are loaded for the newest report, fiscal 2024" in (await ask("latest"))["notes"][0]


async def test_changed_members_are_not_joined_and_reported(load, ask):
    load(PRODUCTS)
    load(instance((90, {}), (90, {PRODUCT: ink("Ink")}), year=2022), accession="a-22", filed="2023-02-01")
    answer = await ask("2022..2023")

    assert answer["data"]["Products"]["Black ink"] == [{"end_date": "2023-12-31", "value": 60}]
    assert answer["notes"] == [
        "Products: the filings use different members; they are not joined, because no filing reports both"
    ]


async def test_a_query_without_an_axis_uses_only_common_ones(load, ask):
    axis = "us-gaap:StatementEquityComponentsAxis"
    load(instance((100, {}), (100, {axis: "us-gaap:RetainedEarningsMember"})))

    assert (await ask())["hint"] == f"Available axes: {axis}"
    assert (await ask(axis=axis))["success"]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"period": "2023-Q4"}, "fiscal 2023 Q4 by segment, product, region, customer; filings do not report"),
        ({"axis": "moon"}, "no loaded filing breaks down Revenue for fiscal 2023 by moon"),
        ({"metric": "free_cash_flow"}, "free_cash_flow is not a known metric, and no loaded filing breaks down a tag"),
        ({"period": "ttm"}, "the last four quarters have no segments"),
        ({"as_of": "2024-01-31"}, "the filings with segment data were filed after 2024-01-31"),
        ({"ticker": "NONE"}, "No loaded company matches NONE"),
    ],
)
async def test_a_missing_breakdown_has_a_reason(load, ask, parameters, sentence):
    load(PRODUCTS)

    assert sentence in (await ask(**parameters))["warning"]


def test_the_most_precise_of_two_equal_facts_counts_and_nil_facts_do_not():
    content = instance(
        (100, {}), (60, {PRODUCT: ink("Black")}, 'decimals="-1"'), (61, {PRODUCT: ink("Black")}, 'decimals="0"'),
        ("", {PRODUCT: ink("Blue")}, 'xsi:nil="true"'),
    )  # fmt: skip

    read = read_instance(content.encode(), "ink").facts
    assert [(fact.value, fact.concept, fact.unit) for fact in read] == [
        (100, "us-gaap:Revenues", "USD"), (61, "us-gaap:Revenues", "USD"),
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("read", [read_instance, read_labels])
def test_a_document_with_entities_is_refused(read, encoding):
    content = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE xbrl [<!ENTITY a "aaaa">]><xbrl>&a;</xbrl>'

    with pytest.raises(FeedUnusable, match="ink has a document type declaration"):
        read(content.encode(encoding), "ink")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<xbrl", "is not well-formed XML"),
        ("<html/>", "is not an XBRL instance"),
        (PRODUCTS.replace("d:DocumentType", "d:Other"), "lacks 'DocumentType'"),
        (PRODUCTS.replace("ink-20231231.xsd", ""), "lacks 'schemaRef'"),
        (PRODUCTS.replace('contextRef="c1"', 'contextRef="c99"'), "lacks 'c99'"),
        (PRODUCTS.replace(">60<", ">sixty<"), "has an invalid value"),
        (PRODUCTS.replace(">60<", ">1e400<"), "has an invalid value"),
    ],
)
def test_a_broken_instance_is_refused_with_its_fault(content, message):
    with pytest.raises(FeedUnusable, match=message):
        read_instance(content.encode(), "ink")


def test_an_instance_without_its_filing_or_labels_is_reported(load):
    with pytest.raises(ParameterError, match="does not belong to any loaded filing; specify --accession and --filed"):
        load(PRODUCTS, accession="", filed="")

    assert load(PRODUCTS).endswith("5 facts with segments")
