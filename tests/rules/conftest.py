"""Real data, if it is available."""

import pytest

from fingerpost.transit.rules.place_index import NamedStop
from tests.shared_data import get_shared, read_table


def read_stops(path: str, feed: str) -> list[NamedStop]:
    """Read the stops and stations of a recorded feed, or skip where it is absent."""
    rows = read_table(get_shared(f"gtfs/{path}"), "stops.txt")
    return [
        NamedStop(
            id=f"{feed}:{row['stop_id']}",
            name=row["stop_name"],
            lat=float(row["stop_lat"]),
            lon=float(row["stop_lon"]),
            parent_id=f"{feed}:{row['parent_station']}" if (row.get("parent_station") or "").strip() else None,
            is_station=row.get("location_type") == "1",
        )
        for row in rows
        if row.get("location_type") in (None, "", "0", "1")
    ]


@pytest.fixture(scope="session")
def helsinki_stops() -> list[NamedStop]:
    return read_stops("helsinki/hsl_centre_2022-02-22.gtfs.zip", "HSL")
