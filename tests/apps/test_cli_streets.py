"""``network add --streets``: the output of the command, and the words and measures in answers."""

import json
import sys

import pytest

from tests.feeds import feed_from_drawing, write_feed
from tests.streets.drawn import osm, read

BUS = """
    line 1 | Alpha 08:30 | Beta 08:50
"""
# From O to Alpha it is 300 m as the crow flies, and 700 m along the streets.
TOWN = """
 O  A----------------------B
 |  |
 +--+
"""
# Feeds and extracts round positions to a tenth of a metre, and what is walked is rounded up.
ALONG, STRAIGHT, ROAD = ({metres, metres + 1} for metres in (700, 390, 300))
STREETS = "Streets from {extract}: 3 km of footways around {stops}. © OpenStreetMap contributors, ODbL."
LICENCE = "Streets: © OpenStreetMap contributors, ODbL 1.0"


@pytest.fixture
def extract(tmp_path):
    return _write(tmp_path / "town.osm", TOWN)


def _write(path, drawing):
    path.write_text(osm(read(drawing)))
    return path


def _feed(path, **stops):
    town = read(TOWN)
    places = {"Alpha": town.place("A"), "Beta": town.place("B"), **stops}
    return str(write_feed(path / "town.zip", feed_from_drawing(BUS, coordinates=places, zone="UTC")))


@pytest.fixture
def town(tmp_path, extract, invoke):
    return invoke("network", "add", "Town", _feed(tmp_path), "--streets", str(extract))


def _plan(invoke):
    lat, lon = read(TOWN).place("O")
    question = {
        "origin": {"type": "coords", "value": {"lat": lat, "lon": lon}},
        "destination": {"type": "label", "value": "Beta"},
        "when": {"type": "depart", "time": "2026-03-10T08:00:00Z"},
        "limit": 1,
    }
    return json.loads(invoke("call", "plan_trip", json.dumps(question)).stdout)


def test_a_walk_follows_the_streets(town, extract, invoke):
    """The walk to the stop is 700 m and 560 s, where the straight line would say 390 m and 312 s."""
    answer = _plan(invoke)

    assert town.stdout.splitlines()[-1] == STREETS.format(extract=extract, stops="all 2 stops")
    walk, ride = answer["itineraries"][0]["legs"]
    assert (walk["mode"], walk["distance"] in ALONG, walk["duration"], ride["mode"]) == ("WALK", True, 560, "BUS")
    assert answer["meta"]["walking"] == "OpenStreetMap streets"
    assert LICENCE in answer["meta"]["attribution"]


def test_an_extract_that_covers_half_is_reported_at_add_and_in_answers(tmp_path, extract, invoke):
    """Beta stands 20 km from all streets of the extract: the walk to Alpha is on streets, and both say what is not."""
    feed = _feed(tmp_path, Beta=(0.0, 0.2))
    added = invoke("network", "add", "Town", feed, "--streets", str(extract))
    answer = _plan(invoke)

    stops = "1 of 2 stops; walks to and from the others are straight lines"
    assert added.stdout.splitlines()[-1] == STREETS.format(extract=extract, stops=stops)
    assert answer["itineraries"][0]["legs"][0]["distance"] in ALONG
    assert answer["meta"]["walking"] == (
        "OpenStreetMap streets; straight line x 1.3 where the extract has none, at 1 of 2 stops"
    )


def test_a_walk_that_leaves_the_streets_is_reported_in_the_answer(town, extract, invoke):
    """The origin lies 500 m north of all streets, where a walk to Alpha may cross anything."""
    north = read(TOWN).place("A")[0] + 0.0045, read(TOWN).place("A")[1]
    trip = invoke("plan", ",".join(map(str, north)), "Beta", "--at", "2026-03-10T08:00:00Z")

    assert (
        "! The origin is more than 300 m from any street in the extract, so its walk is a straight line, "
        "which may cross water or a railway." in trip.stdout.splitlines()
    )
    refused = invoke("plan", ",".join(map(str, north)), "Beta", "--at", "2026-03-10T08:00:00Z", "--max-walk", "300")
    assert "a trip departs at 2026" in refused.stderr
    assert "so its walk is a straight line, which may cross water or a railway" in refused.stderr


def test_without_an_extract_the_straight_line_is_reported(tmp_path, invoke):
    invoke("network", "add", "Town", _feed(tmp_path))
    answer = _plan(invoke)

    assert answer["itineraries"][0]["legs"][0]["distance"] in STRAIGHT
    assert answer["meta"]["walking"] == "straight line x 1.3; changes between stops up to 500 m apart"
    assert LICENCE not in answer["meta"].get("attribution", [])


@pytest.mark.parametrize(
    ("drawing", "problem"),
    [
        (TOWN, "has no street near any stop of the network, whose 2 stops lie between 41.00 and 41.00 N, -8.00 and"),
        ("A--x--B", "has no street near any stop of the network"),
    ],
    ids=["of another city", "without streets"],
)
def test_a_useless_extract_is_refused(tmp_path, invoke, drawing, problem):
    stops = {} if "x" in drawing else {"Alpha": (41.0, -8.0), "Beta": (41.0, -7.9)}
    extract = _write(tmp_path / "town.osm", drawing)
    added = invoke("network", "add", "Town", _feed(tmp_path, **stops), "--streets", str(extract))

    assert added.returncode == 1
    assert f"The extract {extract} {problem}" in added.stderr
    assert "Use an extract of that region, or add the network without --streets" in added.stderr
    assert "TOWN" not in invoke("network", "list").stdout


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("town.osm.pbf", b"not a map" * 100),
        ("town.osm.pbf", b"\x00\x00\x00\x0d\x0a\x09OSMHeader\x18\x7f"),
        ("town.osm", b'<osm version="0.6"><node id="1" version="1" lat="60.0" lon="25.0p"/></osm>'),
    ],
)
def test_an_extract_that_cannot_be_read_is_refused(tmp_path, invoke, name, content):
    extract = tmp_path / name
    extract.write_bytes(content)
    added = invoke("network", "add", "Town", _feed(tmp_path), "--streets", str(extract))

    assert added.returncode == 1
    assert f"The extract {extract} cannot be read: " in added.stderr
    assert "TOWN" not in invoke("network", "list").stdout


def test_without_osmium_one_sentence_explains_how_to_install_it(tmp_path, extract, invoke, monkeypatch):
    monkeypatch.setitem(sys.modules, "osmium", None)
    added = invoke("network", "add", "Town", _feed(tmp_path), "--streets", str(extract))

    assert added.returncode == 2
    assert "Walks on streets need osmium" in added.stderr
    assert "pip install 'osmium" in added.stderr


def test_streets_that_were_added_answer_without_osmium(town, invoke, monkeypatch):
    monkeypatch.setitem(sys.modules, "osmium", None)

    assert _plan(invoke)["itineraries"][0]["legs"][0]["distance"] in ALONG


def test_streets_stay_when_feeds_are_added_again_and_go_with_their_line(tmp_path, extract, invoke, home):
    feed = _feed(tmp_path)
    invoke("network", "add", "Town", feed, "--streets", str(extract))
    again = invoke("network", "add", "Town", feed)
    kept = _plan(invoke)["itineraries"][0]["walkingDistance"]
    path = home / "networks" / "TOWN.toml"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("extract")))
    pending = invoke("network", "list").stdout
    invoke("network", "refresh", "TOWN")

    assert "Unchanged settings: extract." in again.stdout
    assert "TOWN was prepared from different streets than its record lists; answers use the prepared ones." in pending
    assert kept in ALONG
    assert _plan(invoke)["itineraries"][0]["walkingDistance"] in STRAIGHT


def test_another_extract_with_the_same_name_is_used_at_refresh(town, extract, invoke):
    unchanged = invoke("network", "refresh", "TOWN").stdout
    _write(extract, TOWN.replace("O  A", "O--A"))
    invoke("network", "refresh", "TOWN")

    assert unchanged == "TOWN is unchanged.\n"
    assert _plan(invoke)["itineraries"][0]["walkingDistance"] in ROAD


def test_a_network_in_another_format_names_the_refresh_that_prepares_it_again(town, tmp_path, invoke):
    pointer = next(tmp_path.rglob("networks/TOWN.json"))
    pointer.write_text(json.dumps(json.loads(pointer.read_text()) | {"format": 1}))
    refused = " ".join(invoke("doctor").stdout.split())
    invoke("network", "refresh", "TOWN")

    assert "Run `fingerpost network refresh TOWN`" in refused
    assert _plan(invoke)["itineraries"][0]["walkingDistance"] in ALONG


def test_a_server_has_its_own_streets(tmp_path, extract, invoke):
    added = invoke("network", "add", "Live", "--otp", "http://127.0.0.1:1/", "--streets", str(extract))

    assert added.returncode == 2
    assert "a server has its own" in added.stderr
