"""Loading EDGAR files from disk."""

import json
import sqlite3
import zipfile
from contextlib import closing

import pytest

from fingerpost.errors import DataNotFound, FeedUnusable, ParameterError, SettingsInvalid
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.loading import LoadOptions, load_files
from fingerpost.filings.reasons import explain_missing_ticker
from fingerpost.filings.store import FactStore
from tests.filings.drawing import ask, companyfacts, submissions

FACTS = companyfacts("Revenues 2022-01-01 2022-12-31 100 a 10-K 2023-02-01")
QUARTERS = json.dumps(
    companyfacts("Assets - 2022-03-31 9 b 10-Q 2022-05-01\nRevenues - 2022-03-31 9 b 10-Q 2022-05-01")
)
WRONG_TYPES = [
    QUARTERS.replace('"2022-03-31"', "20220331"),
    QUARTERS.replace('"2022-05-01"', "20220501", 1),
    QUARTERS.replace('"10-Q"', "10", 1),
    QUARTERS.replace('"val": 9', '"val": "9"', 1),
    QUARTERS.replace('"val": 9', '"val": 1e300', 1),
]
LISTED = {"0": {"cik_str": 7, "ticker": "DRWN", "title": "Drawn Inc."}}
RECASTS = "Revenues 2022-01-01 2022-12-31 100 a 8-K 2023-05-01\nRevenues 2021-01-01 2021-12-31 90 b 8-K 2023-06-01"
TEXT_OF = {"accession": "a", "form": "10-K", "filed": "2023-02-01"}


@pytest.fixture
def store(tmp_path):
    return FactStore(tmp_path / "filings.sqlite")


def written(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def figures(tmp_path):
    return written(tmp_path / "facts.json", FACTS)


def zipped(path, members):
    with zipfile.ZipFile(path, "w") as made:
        for name, content in members.items():
            made.writestr(name, content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_companyfacts_file_is_loaded_twice_as_once(store, figures):
    load_files(store, [figures, figures], LoadOptions(ticker="drwn"))
    library = FactLibrary(store.path)

    assert library.rows("SELECT count(*) FROM facts WHERE cik = 7") == [(1,)]
    assert [company.ticker for company in library.list_companies()] == ["AAPL", "DRWN", "META", "NVDA"]


def test_a_file_without_a_ticker_gets_one_from_the_list_of_tickers(store, figures, tmp_path):
    load_files(store, [figures, written(tmp_path / "company_tickers.json", LISTED)])

    assert FactLibrary(store.path).find_company("drwn").name == "Drawn Inc."


def test_a_ticker_that_no_file_states_is_from_the_packaged_list(store, tmp_path):
    facts = written(tmp_path / "facts.json", FACTS | {"cik": 1674101, "entityName": "Vertiv Holdings Co"})
    with pytest.raises(ParameterError, match=r"MSFT is the ticker of MICROSOFT CORP \(CIK 789019\), not of Vertiv"):
        load_files(store, [facts], LoadOptions(ticker="MSFT"))
    (loaded,) = load_files(store, [facts])

    assert loaded.endswith("filed up to 2023-02-01; the ticker is from the packaged 2026 list")
    assert FactLibrary(store.path).find_company("VRT").cik == 1674101


def test_a_company_without_periodic_reports_is_complete_through_its_newest_filing(store, tmp_path):
    load_files(store, [written(tmp_path / "facts.json", companyfacts(RECASTS))], LoadOptions(ticker="DRWN"))
    library = FactLibrary(store.path)

    assert library.find_company("DRWN").complete_through == "2023-06-01"
    with pytest.raises(DataNotFound, match="has no standard tag"):
        ask(library, "financial_facts", ticker="DRWN", metrics=["Goodwill"], period="2022")
    with pytest.raises(DataNotFound, match="no annual or quarterly report of Drawn"):
        ask(library, "financial_facts", ticker="DRWN", metrics=["Revenue"], period="latest")


def test_a_ticker_of_another_company_is_refused(store, figures, tmp_path):
    other = written(tmp_path / "other.json", FACTS | {"cik": 8, "entityName": "Other Inc."})
    load_files(store, [figures], LoadOptions(ticker="DRWN"))
    told = r"DRWN is the ticker of Drawn Inc. \(CIK 7\), not of Other Inc. \(CIK 8\)"
    with pytest.raises(ParameterError, match=told):
        load_files(store, [other], LoadOptions(ticker="drwn"))
    with pytest.raises(ParameterError, match="No loaded company has the ticker NONE"):
        load_files(store, [other], LoadOptions(predecessor_of="NONE"))
    newer = written(tmp_path / "newer.json", json.loads(other.read_text().replace("2023-02-01", "2026-01-01")))
    with pytest.raises(ParameterError, match="so it is not a predecessor"):
        load_files(store, [newer], LoadOptions(predecessor_of="DRWN"))
    before = FactLibrary(store.path).find_company("8")
    load_files(store, [other], LoadOptions(predecessor_of="DRWN"))
    library = FactLibrary(store.path)

    assert before is None
    assert library.list_ciks(library.find_company("DRWN")) == [7, 8]


def test_two_companies_of_one_ticker_are_not_joined(store, figures, tmp_path):
    other = written(tmp_path / "other.json", FACTS | {"cik": 8, "entityName": "Other Inc."})
    lists = [written(tmp_path / f"{cik}.json", submissions(cik=cik, tickers=["DRWN"])) for cik in (7, 8)]
    load_files(store, [other, figures, *lists])
    reply = ask(FactLibrary(store.path), "financial_facts", ticker="DRWN", metrics=["Revenue"], period="2022")
    load_files(store, [figures], LoadOptions(predecessor_of="DRWN"))
    library = FactLibrary(store.path)

    assert reply.source["note"].startswith("Excludes figures of Drawn Inc. (CIK 7), another company")
    assert {row["cik"] for row in reply.results} == {"0000000008"}
    assert library.list_ciks(library.find_company("DRWN")) == [7, 8]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (json.dumps(FACTS)[:200], "not JSON, or truncated"),
        ("<html>Request Rate Threshold Exceeded</html>", "a web page"),
        ("[]", "not a JSON object"),
        (QUARTERS.replace('"val": 9', '"val": NaN', 1), "not JSON, or truncated"),
        ({"cik": 7, "entityName": "x", "facts": {}}, "contains no facts"),
        ({"cik": 7, "facts": {"us-gaap": {"A": {"units": {"USD": [{}]}}}}}, "not a companyfacts file"),
        *((changed, "^bad.json is not a companyfacts file") for changed in WRONG_TYPES),
    ],
)
def test_a_foreign_file_is_refused_and_unchanged(store, figures, tmp_path, content, told):
    load_files(store, [figures], LoadOptions(ticker="DRWN"))
    with pytest.raises(FeedUnusable, match=told):
        load_files(store, [written(tmp_path / "bad.json", content)])

    assert FactLibrary(store.path).find_company("DRWN").complete_through == "2023-02-01"


def test_the_items_of_a_text_are_loaded_without_figures(store, tmp_path):
    text = written(tmp_path / "10k.txt", "Item 1. Business\nWe draw.\nItem 1A. Risk Factors\nInk.")
    load_files(store, [written(tmp_path / "company_tickers.json", LISTED)])
    (loaded,) = load_files(store, [text], LoadOptions(ticker="DRWN", **TEXT_OF))

    assert loaded == "10k.txt: Drawn Inc., 10-K of 2023-02-01: 2 sections"
    assert FactLibrary(store.path).rows("SELECT title, text FROM sections ORDER BY position") == [
        ("Item 1. Business", "We draw."),
        ("Item 1A. Risk Factors", "Ink."),
    ]


COVER = """<html><ix:header><ix:nonNumeric contextRef="c" name="dei:EntityCentralIndexKey">0000000007</ix:nonNumeric>
</ix:header><p><ix:nonNumeric contextRef="c" name="dei:DocumentType">10-K</ix:nonNumeric> of
<ix:nonNumeric format="ixt:date-monthname-day-year-en" name="dei:DocumentPeriodEndDate">December&#160;<b>31</b>, 2022
</ix:nonNumeric> <ix:nonNumeric name="dei:EntityRegistrantName">Drawn &amp; Co.</ix:nonNumeric></p>
<p>Item 1. Business</p><p>We draw.</p></html>"""
ROWS = [
    ("q", "10-Q", "2023-05-01", "2023-03-31", "q.htm", "10-Q"),
    ("a", "10-K", "2023-02-01", "2022-12-31", "drawn-20221231.htm", "10-K"),
]
SUBMISSIONS = submissions(*ROWS, tickers=["DRWN"])


@pytest.mark.parametrize(
    ("name", "content", "listed"),
    [("copy.htm", COVER, SUBMISSIONS), ("drawn-20221231.htm", "<html>Item 1.", SUBMISSIONS)],
)
def test_a_text_of_a_loaded_filing_needs_no_options(store, tmp_path, name, content, listed):
    """It is known by its cover page's form and period, or by its name."""
    options = LoadOptions() if content == COVER else LoadOptions(ticker="DRWN")
    load_files(store, [written(tmp_path / "facts.json", FACTS), written(tmp_path / "list.json", listed)])
    (loaded,) = load_files(store, [written(tmp_path / name, content)], options)

    assert loaded.startswith(f"{name}: Drawn Inc., 10-K of 2023-02-01: ")
    assert FactLibrary(store.path).rows("SELECT DISTINCT cik, accession_number FROM sections") == [(7, "a")]


def test_a_repeated_document_name_means_the_filing_of_the_period(store, tmp_path):
    ends = {"q": "2022-12-31", "a": "2021-12-31"}
    rows = [(accession, "10-K", "2023-02-01", end, "form10k.htm", "") for accession, end in ends.items()]
    listed = written(tmp_path / "list.json", submissions(*rows))
    texts = {
        year: written(tmp_path / str(year) / "form10k.htm", COVER.replace("2022", year)) for year in ("2022", "2012")
    }
    load_files(store, [listed, texts["2022"]])
    with pytest.raises(ParameterError, match=r"text of a filing; specify --accession, --filed$"):
        load_files(store, [texts["2012"]])

    assert FactLibrary(store.path).rows("SELECT DISTINCT accession_number FROM sections") == [("q",)]


def test_a_text_needs_only_the_options_that_its_cover_page_lacks(store, tmp_path):
    text = written(tmp_path / "10k.htm", COVER)
    with pytest.raises(ParameterError, match=r"text of a filing; specify --accession, --filed$"):
        load_files(store, [text])
    (loaded,) = load_files(store, [text], LoadOptions(accession="a", filed="2023-02-01"))
    ciks_without_figures = FactLibrary(store.path).find_ciks("CIK0000000007")
    load_files(store, [written(tmp_path / "company_tickers.json", {"0": LISTED["0"] | {"cik_str": 8}})])
    with pytest.raises(ParameterError, match=r"of Drawn & Co. \(CIK 7\), not of Drawn Inc. \(CIK 8\)"):
        load_files(store, [text], LoadOptions(ticker="DRWN", accession="a", filed="2023-02-01"))

    assert loaded == "10k.htm: Drawn & Co., 10-K of 2023-02-01: 2 sections"
    assert ciks_without_figures == [7]


def test_an_archive_replaces_older_figures_and_preserves_newer_ones(store, tmp_path):
    for cik, filed in ((7, "2023-01-31"), (8, "2023-02-02")):
        own = json.loads(json.dumps(FACTS | {"cik": cik}).replace("2023-02-01", filed))
        load_files(store, [written(tmp_path / "own.json", own)])
    newer = json.dumps(FACTS).replace('"val": 100', '"val": 101')
    members = {f"CIK{cik:010}.json": newer.replace('"cik": 7', f'"cik": {cik}') for cik in (7, 8)}
    load_files(store, [zipped(tmp_path / "companyfacts.zip", members)])

    values = FactLibrary(store.path).rows("SELECT cik, value FROM facts WHERE cik < 10 ORDER BY cik")
    assert values == [(7, 101), (8, 100)]


def test_an_archive_without_companies_is_refused(store, tmp_path):
    with pytest.raises(FeedUnusable, match="is not a zip archive"):
        load_files(store, [written(tmp_path / "text.zip", "{}")])
    with pytest.raises(FeedUnusable, match=r"contains no readable file .*; readme.txt: skipped: not a JSON"):
        load_files(store, [zipped(tmp_path / "companyfacts.zip", {"readme.txt": "nothing"})])


def test_a_folder_is_loaded_file_by_file(store, tmp_path):
    folder, nothing = tmp_path / "sec", tmp_path / "empty"
    folder.mkdir()
    nothing.mkdir()
    written(folder / "a.json", FACTS)
    written(folder / "b.json", "[]")
    written(folder / "c.json", LISTED)
    written(folder / "d.csv", "")
    written(folder / "aaa.txt", "Item 1. Business")
    pages = {"accessionNumber": []}
    zipped(folder / "e.zip", {"CIK0000000007.json": SUBMISSIONS, "readme.txt": "", "pages.json": pages})
    loaded = load_files(store, [folder])

    assert loaded[1:] == [
        "b.json: skipped: b.json is not a JSON object",
        "c.json: 1 tickers",
        "d.csv: skipped: the file type is not one of .json, .zip, .xml, .txt, .htm, .html",
        "e.zip: 0 companies, 0 figures, 1 lists of filings or tickers; 2 skipped",
        "pages.json: skipped: pages.json is an older page of a filing list; only the newest page can be loaded",
        "readme.txt: skipped: not a JSON file",
        "aaa.txt: skipped: aaa.txt is the text of a filing; specify --ticker, --accession, --form, --filed",
    ]
    assert FactLibrary(store.path).find_company("DRWN").cik == 7
    with pytest.raises(FeedUnusable, match="empty contains no readable file"):
        load_files(store, [nothing])


@pytest.mark.parametrize(
    "options", [{"ticker": "DRWN"}, {"predecessor_of": "DRWN"}, TEXT_OF, {"ticker": "DRWN", "predecessor_of": "DRWN"}]
)
@pytest.mark.parametrize("name", ["sec", "companyfacts.zip"])
def test_options_of_one_company_are_refused_for_many(store, tmp_path, name, options):
    many = tmp_path / name
    many.touch() if many.suffix else many.mkdir()
    with pytest.raises(ParameterError, match=r"may contain several companies|not both"):
        load_files(store, [many], LoadOptions(**options))


def test_a_company_without_a_ticker_is_queried_by_cik(store, figures):
    load_files(store, [figures])
    entry = explain_missing_ticker(FactLibrary(store.path), "VRT")

    assert entry["message"] == "No loaded company matches VRT; loaded companies without a known ticker: 1"
    assert entry["next_step"] == (
        "Run: fingerpost filings load company_tickers.json, or use a CIK, such as CIK0000000007"
    )


def test_a_file_of_another_layout_is_refused(store, figures):
    load_files(store, [figures], LoadOptions(ticker="DRWN"))
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA user_version = 1")

    with pytest.raises(
        SettingsInvalid, match="was written by another version of fingerpost; move it out of the way and load again"
    ):
        FactLibrary(store.path).find_company("DRWN")
