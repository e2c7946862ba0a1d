"""What the straight line has to add so that changes on foot hold: its factor and slack, measured by real streets.

    python bench/straight_line.py

For each pair of stops up to 500 m apart in Tampere and in Helsinki's centre, both within 50 m of a street (stops
beyond the edge of an extract are not, and the streets around them are missing), the walk along the streets of the
extract is compared with what is promised without them: the straight line times a factor, at a rider's pace, and a
slack. A change is infeasible where the streets take longer, or where no way is found within 3 km; what is promised
beyond the streets' time is wasted. Within a station the slack is that of a change on streets, because ways inside it
are no streets' matter; they count too. For each factor the least slack between other stops is printed that leaves at
most 5 % of all infeasible in both cities.
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.shared_data import get_shared

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.walking import (
    CHANGE_SLACK_S,
    DETOUR_FACTOR,
    FOOTPATH_RADIUS_M,
    PACE_M_PER_S,
    STRAIGHT_SLACK_S,
    neighbours_m,
)
from fingerpost.transit.engine.timetable.walks import WalkedStops
from fingerpost.transit.osm.streets.preparing import StreetPreparation
from fingerpost.transit.osm.streets.snapping import snap_to_streets
from fingerpost.transit.osm.streets.store import find_streets
from fingerpost.transit.osm.streets.street_walks import MEASURED_M, StreetWalks
from fingerpost.transit.osm.streets.walking_profile import RIDER

CITIES = {
    "Tampere": ("gtfs/tampere/tampere_nysse_2021-22.gtfs.zip", "gtfs/tampere/tampere.osm.pbf"),
    "Helsinki's centre": ("gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip", "gtfs/helsinki/helsinki_centre_2020.osm.pbf"),
}
FACTORS = (1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0)
INFEASIBLE = 0.05
NEAR_M = 50.0


def main() -> int:
    """Print the table; 1 where what is built in leaves more than 5 % infeasible in a city."""
    pairs = {city: measure(*files) for city, files in CITIES.items()}
    for city, each in pairs.items():
        found = np.isfinite(each.street_s)
        print(
            f"{city}: {len(found):,} pairs within {FOOTPATH_RADIUS_M:g} m, {each.in_station.sum():,} in one station; "
            f"no way for {np.mean(~found):.2%}"
        )
        far = found & (each.straight_m > 150)
        detours = np.percentile(each.street_s[far] * PACE_M_PER_S / each.straight_m[far], [5, 50, 95, 99])
        print(
            f"  seconds beside the straight line beyond 150 m, p5 p50 p95 p99: {' '.join(f'{x:.2f}' for x in detours)}"
        )
    print(f"least slack for at most {INFEASIBLE:.0%}, each city alone and both; mean waste with that for both")
    for factor in FACTORS:
        alone = [each.find_least_slack_s(factor) for each in pairs.values()]
        told = ", ".join(
            f"{city} {slack_s} s (waste {pairs[city].get_waste_s(factor, max(alone)):.0f} s)"
            for city, slack_s in zip(pairs, alone, strict=True)
        )
        print(f"  factor {factor}: {told}; both {max(alone)} s")
    worst = 0.0
    slack_s = CHANGE_SLACK_S + STRAIGHT_SLACK_S
    for city, each in pairs.items():
        share = each.get_infeasible(DETOUR_FACTOR, slack_s)
        told = f"{share:.1%}, waste {each.get_waste_s(DETOUR_FACTOR, slack_s):.0f} s"
        print(f"built in, {DETOUR_FACTOR} and {slack_s} s: {city} {told}")
        worst = max(worst, share)
    return int(worst > INFEASIBLE)


class Pairs(NamedTuple):
    """Pairs of stops: metres in a straight line, seconds along streets, and whether both lie in one station."""

    straight_m: np.ndarray
    street_s: np.ndarray
    in_station: np.ndarray

    def _promised_s(self, factor, slack_s):
        return self.straight_m * factor / PACE_M_PER_S + np.where(self.in_station, CHANGE_SLACK_S, slack_s)

    def get_infeasible(self, factor, slack_s):
        return float(np.mean(self.street_s > self._promised_s(factor, slack_s)))

    def get_waste_s(self, factor, slack_s):
        spare_s = self._promised_s(factor, slack_s) - self.street_s
        return float(np.maximum(spare_s[np.isfinite(self.street_s)], 0).mean())

    def find_least_slack_s(self, factor):
        return next(slack_s for slack_s in range(3600) if self.get_infeasible(factor, slack_s) <= INFEASIBLE)


def measure(gtfs: str, extract: str):
    """Return the metres in a straight line and the seconds along the streets of each pair of stops on them."""
    preparation = StreetPreparation(get_shared(extract))
    table = import_feeds("CITY", [FeedSource(get_shared(gtfs))], find_walks=preparation.find_walks).timetable
    with tempfile.TemporaryDirectory() as folder:
        preparation.save(Path(folder))
        streets = find_streets(Path(folder))
        stops = WalkedStops(table.stop_lat, table.stop_lon, table.stop_kind, (), ())
        walks = StreetWalks(streets.graph, streets.grid, stops, RIDER, access=streets.access)
        away_m = snap_to_streets(streets.graph, streets.grid, table.stop_lat, table.stop_lon).away_m
        rows = np.flatnonzero((table.stop_kind == STOP) & (away_m <= NEAR_M))
        begin, end, straight_m = neighbours_m(table.stop_lat, table.stop_lon, rows, FOOTPATH_RADIUS_M)
        links = walks.measure_on_streets(begin, end, MEASURED_M)
    parent = table.stop_parent
    in_station = (parent[begin] == parent[end]) & (parent[begin] >= 0)
    return Pairs(straight_m, np.where(links.metres >= 0, links.seconds, np.inf), in_station)


if __name__ == "__main__":
    sys.exit(main())
