"""A series marks the values that are not comparable with those before them."""

import pytest

from fingerpost.filings.questions import compare, time_series
from tests.filings.drawing import LATEST, facts, library_of, window

FRAMEWORK = "under us-gaap; the value before it is under ifrs-full"
RESTATED = "restated: no filing states this value and the one before it"


@pytest.mark.parametrize(
    ("ticker", "metric", "marked"),
    [
        ("CLS", "NetIncome", {"2016-12-31": RESTATED, "2022-12-31": FRAMEWORK}),
        ("CLS", "net_margin", {"2022-12-31": FRAMEWORK}),
        # A shell without revenue, and the company that it merged with.
        ("VRT", "Revenue", {"2018-12-31": RESTATED}),
        ("AAPL", "Revenue", {}),
    ],
)
def test_a_series_marks_each_change_of_basis(recorded, ticker, metric, marked):
    """In the row; ``data`` has days and values alone (rule F3)."""
    reply = time_series(recorded, ticker, metric, window(), "annual", LATEST)
    notes = [(row["end_date"], note) for row in reply.results for note in row.get("notes", ())]

    assert {day: note for day, note in notes if note in (FRAMEWORK, RESTATED)} == marked
    assert {name for point in reply.data[metric] for name in point} == {"end_date", "value"}


def test_companies_under_two_frameworks_are_compared_with_a_note(recorded):
    """Celestica filed under IFRS in 2018."""
    reply = compare(recorded, ["CLS", "VRT"], ["Revenue"], window("2018"), LATEST)

    assert reply.extra["notes"] == ["The accounting frameworks differ: ifrs-full, us-gaap"]


def test_a_transition_period_is_a_row_of_its_own(tmp_path):
    """The half year between two year ends, from the transition report; its first quarter is no row."""
    drawn = facts("""
        Revenues 2022-07-01 2023-06-30 100 k23  10-K  2023-08-15
        Revenues 2023-07-01 2023-12-31 48  kt24 10-KT 2025-02-15
        Revenues 2023-07-01 2024-06-30 102 k24  10-K  2024-08-15
        Revenues 2024-07-01 2024-09-30 29  kt24 10-KT 2025-02-15
        Revenues 2024-07-01 2024-12-31 60  kt24 10-KT 2025-02-15
        Revenues 2025-01-01 2025-12-31 130 k25  10-K  2026-02-15
    """)
    years = {"2023-06-30": 2023, "2024-06-30": 2024, "2025-12-31": 2025}
    library = library_of(tmp_path / "f.sqlite", drawn, years)
    rows = time_series(library, "DRWN", "Revenue", window(), None, LATEST).results

    assert [row["value"] for row in rows] == [100, 102, 60, 130]
    assert rows[2]["notes"] == ["a transition period: the company moved its year end"]
