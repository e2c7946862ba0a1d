"""``fingerpost network add --otp`` and ``--digitransit``: the record that they write."""

import pytest

from fingerpost.apps.source_kinds import list_paces
from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.net.limiter import Limiter
from fingerpost.store.limits import Pace
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.model.profile import ANSWER_DEADLINE_S
from fingerpost.transit.remote.opentripplanner.digitransit import DIGITRANSIT, FINLAND_DEADLINE_S, find_region
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerNetwork, OpenTripPlannerSource
from tests.opentripplanner.answers import LEARNED, a_board, a_board_query, a_time, asking, data


@pytest.mark.parametrize("name", ["finland", "hsl", "waltti", "varely"])
def test_a_region_is_its_address_and_its_key(name):
    filled = DIGITRANSIT.fill(name.upper())

    assert filled == {"url": f"https://api.digitransit.fi/routing/v2/{name}/gtfs/v1", "key": "DIGITRANSIT_API_KEY"}
    assert find_region(filled["url"]) == name


@pytest.mark.parametrize("name", ["finland", "hsl", "waltti", "varely"])
def test_digitransit_gets_ten_requests_a_second_after_a_burst_of_thirty(name):
    address = DIGITRANSIT.fill(name)["url"].removeprefix("https://")

    assert Limiter(paces=list_paces()).pace(address) == Pace(name="digitransit", per_second=10, burst=30)


def test_an_unknown_region_names_those_that_there_are():
    with pytest.raises(ParameterError, match="no region 'helsinki'") as raised:
        DIGITRANSIT.fill("helsinki")

    assert raised.value.hint == "Regions: finland, hsl, waltti, varely"


@pytest.mark.parametrize(("name", "deadline_s"), [("hsl", ANSWER_DEADLINE_S), ("finland", FINLAND_DEADLINE_S)])
def test_all_of_finland_may_take_longer(name, deadline_s):
    """Rule A13: 8 s, and 35 s for the Finland endpoint."""
    record = NetworkRecord(name="X", source="opentripplanner", **DIGITRANSIT.fill(name))

    assert OpenTripPlannerNetwork(record, LEARNED, None).profile.answer_deadline_s == deadline_s


async def test_another_server_gets_its_key_in_the_authorization_header():
    environ = {"MY_KEY": "Bearer abcdef"}
    async with asking(data(stops=[a_board(a_time())]), environ=environ, key="MY_KEY") as (network, local):
        await network.list_departures(a_board_query())

    assert local.asked[0].headers["authorization"] == "Bearer abcdef"


def test_a_record_with_an_unusable_address_is_the_operators_to_fix():
    record = NetworkRecord(name="X", source="opentripplanner", url="nowhere")
    with pytest.raises(SettingsInvalid, match="The URL of X cannot be used"):
        OpenTripPlannerSource(None).open(record, LEARNED)
