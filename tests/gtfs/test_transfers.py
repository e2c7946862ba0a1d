"""transfers.txt: what a feed says about changing."""

from tests.gtfs.importing import findings_of, import_text

STOPS = (
    "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n"
    "ALPHA,Alpha,60.17,24.94,0,\nBETA,Beta,60.17,24.96,0,\nGAMMA,Gamma,60.17,24.98,0,\n"
    "C,Central,60.2,24.9,1,\nC1,Central,60.2,24.9,0,C\nC2,Central,60.2,24.91,0,C\nE,Door,60.2,24.9,2,C\n"
)
HEAD = "from_stop_id,to_stop_id,transfer_type,min_transfer_time,from_trip_id\n"


def transfers_of(tmp_path, rows):
    imported = import_text(tmp_path, {"stops.txt": STOPS, "transfers.txt": HEAD + rows})
    table = imported.timetable
    ends = [
        [table.stop_local_id[row] for row in column.tolist()] for column in (table.transfer_from, table.transfer_to)
    ]
    transfers = list(zip(*ends, table.transfer_type.tolist(), table.transfer_min_s.tolist(), strict=True))
    return transfers, findings_of(imported)


def test_kinds(tmp_path):
    """Types 0 to 3 are kept as they are; a blank type is 0, a blank time unknown."""
    transfers, findings = transfers_of(
        tmp_path, "ALPHA,BETA,,\nBETA,ALPHA,1,\nALPHA,GAMMA,2,90\nGAMMA,GAMMA,2,0\nGAMMA,ALPHA,3,\n"
    )

    assert transfers == [
        ("ALPHA", "BETA", 0, -1),
        ("ALPHA", "GAMMA", 2, 90),
        ("BETA", "ALPHA", 1, -1),
        ("GAMMA", "ALPHA", 3, -1),
        ("GAMMA", "GAMMA", 2, 0),
    ]
    assert findings == []


def test_station_means_its_stops(tmp_path):
    """A station stands for all its boardable stops, its entrances not included."""
    transfers, _ = transfers_of(tmp_path, "C,ALPHA,2,60\n")

    assert transfers == [("C1", "ALPHA", 2, 60), ("C2", "ALPHA", 2, 60)]


def test_named_stop_wins(tmp_path):
    """A row that names stops wins over one that names their station, wherever it stands; a later row over an equal."""
    transfers, _ = transfers_of(tmp_path, "C1,C2,2,30\nC,C,2,60\nC1,C,2,45\nC1,C1,2,10\nC1,C1,2,11\n")

    assert sorted(transfers) == [
        ("C1", "C1", 2, 11),
        ("C1", "C2", 2, 30),
        ("C2", "C1", 2, 60),
        ("C2", "C2", 2, 60),
    ]


def test_what_is_not_applied(tmp_path):
    """Rules for a trip, in-seat kinds, unknown kinds and rules for what nobody boards are counted."""
    transfers, findings = transfers_of(
        tmp_path,
        "ALPHA,BETA,2,60,A-1\nALPHA,BETA,4,\nALPHA,BETA,5,\nALPHA,BETA,6,\nALPHA,X,0,\nE,ALPHA,0,\n",
    )

    assert transfers == []
    assert findings == [
        ("transfer-at-unknown-stop", 1, "transfers.txt", 6),
        ("transfer-at-entrance-or-node", 1, "transfers.txt", 7),
        ("transfer-by-route-or-trip-unapplied", 1, "transfers.txt", 2),
        ("transfer-in-seat-unapplied", 1, "transfers.txt", 3),
        ("transfer-kind-unknown", 1, "transfers.txt", 5),
    ]
