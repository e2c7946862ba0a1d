"""transfers.txt: the feed's transfer rules."""

import numpy as np
import pytest

from fingerpost.transit.engine.timetable.walks import CHANGE_SLACK_S
from tests.gtfs.importing import findings_of, import_text

STOPS = (
    "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n"
    "ALPHA,Alpha,60.17,24.94,0,\nBETA,Beta,60.17,24.96,0,\nGAMMA,Gamma,60.17,24.98,0,\n"
    "C,Central,60.2,24.9,1,\nC1,Central,60.2,24.9,0,C\nC2,Central,60.2,24.91,0,C\nE,Door,60.2,24.9,2,C\n"
)
LOOP = (
    "trip_id,stop_id,stop_sequence,arrival_time,departure_time\n"
    "A-1,ALPHA,1,8:00:00,8:00:00\nA-1,ALPHA,2,8:10:00,8:10:00\n"
)
HEAD = "from_stop_id,to_stop_id,transfer_type,min_transfer_time,from_trip_id\n"


def transfers_of(tmp_path, rows):
    """Return the seconds of each transfer, which have rules as no stops are near, and of unusual changes at a stop."""
    imported = import_text(tmp_path, {"stops.txt": STOPS, "transfers.txt": HEAD + rows})
    table, ids = imported.timetable, list(imported.timetable.stop_local_id)
    paths = zip(
        np.repeat(ids, np.diff(table.footpaths.first)), table.footpaths.to, table.footpaths.seconds, strict=True
    )
    changes = [(stop, stop, s) for stop, s in zip(ids, table.change_s.tolist(), strict=True) if s != CHANGE_SLACK_S]
    return changes + [(str(begin), ids[end], int(s)) for begin, end, s in paths], findings_of(imported)


@pytest.mark.parametrize(
    ("rows", "transfers", "findings"),
    [
        # A blank type is 0, which is the walk of 1,152 s and the slack; type 1 is the walk alone.
        (
            "ALPHA,BETA,,\nBETA,ALPHA,1,\nALPHA,GAMMA,2,90\nGAMMA,GAMMA,2,0\nGAMMA,ALPHA,3,\n",
            [("ALPHA", "BETA", 1407), ("ALPHA", "GAMMA", 90), ("BETA", "ALPHA", 1152), ("GAMMA", "GAMMA", 0)],
            [],
        ),
        # A station stands for all its boardable stops, its entrances not included.
        ("C,ALPHA,2,60\n", [("C1", "ALPHA", 60), ("C2", "ALPHA", 60)], []),
        # A row that names stops wins over one that names their station, wherever it stands; a later one over an equal.
        (
            "C1,C2,2,30\nC,C,2,60\nC1,C,2,45\nC1,C1,2,10\nC1,C1,2,11\n",
            [("C1", "C1", 11), ("C1", "C2", 30), ("C2", "C1", 60), ("C2", "C2", 60)],
            [],
        ),
        # In-seat kinds without trips, unknown kinds, unknown trips and rules for what nobody boards are counted.
        (
            "ALPHA,BETA,2,60,X-1\nALPHA,BETA,4,\nALPHA,BETA,5,\nALPHA,BETA,6,\nALPHA,X,0,\nE,ALPHA,0,\n",
            [],
            [
                ("transfer-at-unknown-stop", 2, "transfers.txt", 6),
                ("transfer-of-unknown-route-or-trip", 1, "transfers.txt", 2),
                ("transfer-in-seat-unapplied", 2, "transfers.txt", 3),
                ("transfer-kind-unknown", 1, "transfers.txt", 5),
            ],
        ),
    ],
)
def test_transfers_apply_between_pairs_of_stops(tmp_path, rows, transfers, findings):
    found, counted = transfers_of(tmp_path, rows)

    assert (sorted(found), counted) == (transfers, findings)


def test_a_link_at_an_unknown_stop_of_a_feed_with_one_stop_is_counted(tmp_path):
    stop = "stop_id,stop_name,stop_lat,stop_lon\nALPHA,Alpha,60.17,24.94\n"
    link = "from_stop_id,to_stop_id,transfer_type,from_trip_id,to_trip_id\nX,X,4,A-1,A-1\n"
    loop = {"stop_times.txt": LOOP, "stops.txt": stop, "transfers.txt": link}

    assert findings_of(import_text(tmp_path, loop)) == [("transfer-in-seat-unapplied", 1, "transfers.txt", 2)]


SPECIFIC = "from_stop_id,to_stop_id,from_route_id,to_route_id,from_trip_id,to_trip_id,transfer_type,min_transfer_time\n"


def specific_of(tmp_path, rows, **more):
    """Return the rules (stops, routes and trips by their ids, seconds), the strongest last; and the findings."""
    imported = import_text(tmp_path, {"stops.txt": STOPS, "transfers.txt": SPECIFIC + rows}, **more)
    table = imported.timetable
    columns = (
        (table.specific_transfer_from_stop, table.stop_local_id),
        (table.specific_transfer_to_stop, table.stop_local_id),
        (table.specific_transfer_from_route, table.route_local_id),
        (table.specific_transfer_to_route, table.route_local_id),
        (table.specific_transfer_from_trip, table.trip_local_id),
        (table.specific_transfer_to_trip, table.trip_local_id),
    )
    ids = [["" if row < 0 else names[row] for row in column.tolist()] for column, names in columns]
    said = [",".join(each) for each in zip(*ids, strict=True)]
    return list(zip(said, table.specific_transfer_s.tolist(), strict=True)), findings_of(imported)


def test_rules_for_trips_and_routes_are_in_the_order_of_their_ranks(tmp_path):
    """However they stand in the file; the trip counts where its route is named too; a station means its stops."""
    rules, findings = specific_of(
        tmp_path,
        "BETA,BETA,,,A-1,A-1,2,6\nBETA,BETA,A,A,A-1,,2,5\nBETA,BETA,A,,,,2,1\n"
        "BETA,BETA,,,,A-1,2,3\nBETA,BETA,A,A,,,3,\nC,C1,A,,,,2,9\n",
    )

    assert rules == [
        ("C1,C1,A,,,", 9),
        ("C2,C1,A,,,", 9),
        ("BETA,BETA,A,,,", 1),
        ("BETA,BETA,A,A,,", -1),
        ("BETA,BETA,,,,A-1", 3),
        ("BETA,BETA,,A,A-1,", 5),
        ("BETA,BETA,,,A-1,A-1", 6),
    ]
    assert findings == []
