"""The requests to a server when it is added, and the profile learned from it."""

from dataclasses import replace

import pytest

from fingerpost.errors import ParameterError, SettingsInvalid, SourceChanged
from fingerpost.transit.learned_profile import new_remote_profile
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.remote.motis.network import ABILITIES, MotisSource
from tests.motis.answers import Told, a_place, learn, new_record

HOST = "MOTIS at town.example; contact its operator for the data sources"
OSM = "© OpenStreetMap contributors, ODbL"
START = {"lat": 52.3, "lon": 4.9, "zoom": 10}
PAGE = ("404 Not Found", None)
TOO_MANY = ("422 Unprocessable Entity", {"error": "too many stops"})
STOPS = [
    a_place("Dam", "GVB_1", 52.370, 4.900, modes=["TRAM", "BUS"]),
    a_place("Zoo", "nl-ovapi_2", 52.366, 4.912, modes=["SUBWAY"]),
    a_place("Far", "nl-ovapi_3", 52.310, 4.940, modes=[], tz="Europe/Paris"),
]


def a_server(stops=STOPS, config=None):
    return Told(map__initial={**START, "serverConfig": config}, map__stops=stops)


async def test_coverage_is_learned_from_the_stops():
    learned = await learn(a_server())
    box = learned.bounds

    assert ([feed.name for feed in learned.feeds], learned.zone) == (["GVB", "nl-ovapi"], "Europe/Amsterdam")
    assert learned.modes == {Mode.TRAM, Mode.BUS, Mode.METRO}
    assert [round(each, 3) for each in (box.south, box.north, box.west, box.east)] == [52.283, 52.397, 4.856, 4.984]


@pytest.mark.parametrize(
    ("config", "lacking", "named"),
    [
        ({"hasStreetRouting": True}, set(), [HOST, OSM]),
        # The wheelchair profile needs streets; nor is anybody's map used.
        ({"hasStreetRouting": False}, {Ability.STEP_FREE}, [HOST]),
    ],
)
async def test_its_streets_are_learned_and_whom_to_name(config, lacking, named):
    learned = await learn(a_server(config=config))

    assert ABILITIES - learned.abilities == lacking
    assert list(learned.attribution) == named


async def test_more_stops_than_it_lists_want_bounds_and_a_zone():
    bounds = (50.0, 3.0, 54.0, 7.0)
    with pytest.raises(ParameterError, match="more stops than it lists") as raised:
        await learn(a_server(stops=TOO_MANY), bounds=bounds)
    learned = await learn(a_server(stops=TOO_MANY), bounds=bounds, zone="Europe/Amsterdam")

    assert (raised.value.details, learned.feeds, learned.bounds) == ({"field": "zone"}, (), None)


async def test_stops_without_a_zone_leave_it_to_the_operator():
    learned = await learn(a_server(stops=[{**each, "tz": None} for each in STOPS]))
    record = new_record()

    with pytest.raises(SettingsInvalid, match="add it again with --zone"):
        new_remote_profile(record, learned, ABILITIES)
    assert (
        new_remote_profile(record.model_copy(update={"zone": "Europe/Oslo"}), learned, ABILITIES).zone == "Europe/Oslo"
    )


@pytest.mark.parametrize(
    ("told", "words", "hint"),
    [
        (a_server(stops=[]), "no stops in that area", "Import a timetable"),
        (Told(map__initial=PAGE), "has no /api", "MOTIS 2.11 or later"),
        (a_server(stops=PAGE), "has no /api/v6/map/stops", "MOTIS 2.11 or later"),
    ],
)
async def test_a_server_without_a_timetable_or_version_6_is_refused(told, words, hint):
    with pytest.raises(SourceChanged, match=words) as raised:
        await learn(told)

    assert hint in raised.value.hint


async def test_a_record_without_an_address_is_refused():
    with pytest.raises(ParameterError) as raised:
        await MotisSource(None).learn(new_record(url=None))

    assert raised.value.message.startswith("The URL of NL cannot be used: An address must begin with http://")


async def test_ids_of_a_feed_that_was_not_learned_belong_to_the_network_all_the_same():
    learned = await learn(a_server())
    record = new_record()

    assert MotisSource(None).open(record, learned).profile.feed_names == {"NL", "GVB", "NL-OVAPI"}
    assert MotisSource(None).open(record, replace(learned, feeds=())).profile.feed_names == {"NL"}
