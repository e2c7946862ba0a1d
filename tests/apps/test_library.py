"""The Python interface: the same answers, as values and exceptions."""

import asyncio
import inspect
import json

import pytest

from fingerpost import Fingerpost, ParameterError, SyncFingerpost, ToolError
from fingerpost.errors import PlaceAmbiguous
from tests.apps.questions import KAMPPI, KAMPPI_TO_ESPOO


async def _plan():
    async with Fingerpost() as fp:
        return await fp.plan_trip(origin="Kamppi", destination="Espoo")


def test_a_trip_is_the_same_from_both_classes_and_the_command_line(invoke):
    with SyncFingerpost() as fp:
        waited = fp.plan_trip(origin="Kamppi", destination="Espoo")

    printed = json.loads(invoke("call", "plan_trip", json.dumps(KAMPPI_TO_ESPOO)).stdout)
    assert asyncio.run(_plan()) == waited == printed


async def test_an_end_may_be_a_position_or_the_contracts_own_object():
    async with Fingerpost() as fp:
        trip = await fp.plan_trip(origin=(60.169, 24.932), destination={"type": "label", "value": "Espoo"}, limit=1)

    assert (trip["origin"]["coordinate"], len(trip["itineraries"])) == ({"lat": 60.169, "lon": 24.932}, 1)


async def test_a_named_method_raises_the_error_that_call_answers():
    async with Fingerpost() as fp:
        envelope = await fp.call("plan_trip", {**KAMPPI_TO_ESPOO, "limit": 4})
        with pytest.raises(ParameterError) as caught:
            await fp.plan_trip(origin="Kamppi", destination="Espoo", limit=4)

    assert caught.value.message == envelope["error"]["message"]


async def test_candidates_are_in_the_exception():
    async with Fingerpost() as fp:
        with pytest.raises(PlaceAmbiguous) as caught:
            await fp.get_departures(stop="kamp")

    assert KAMPPI in [candidate["token"] for candidate in caught.value.details["candidates"]]


async def test_methods_are_coroutine_functions_as_frameworks_look_for_them():
    async with Fingerpost() as fp:
        kinds = [inspect.iscoroutinefunction(library.plan_trip) for library in (fp, SyncFingerpost)]
        coming = fp.plan_trip(origin=(60.1, 24.9, 0.0), destination="Espoo")
        with pytest.raises(ParameterError, match="origin"):
            await coming

    assert kinds == [True, False]


async def test_every_method_reaches_its_tool():
    async with Fingerpost(user="eva") as fp:
        await fp.save_user_variable(key="home", type="location", value={"lat": 60.169, "lon": 24.932})
        kept = await fp.get_user_variables()
        found = await fp.find_address_or_stop("Kamppi", focus_point={"lat": 60.17, "lon": 24.93})
        near = await fp.find_stops(lat=60.1699, lon=24.9384, max_results=1, include_modes=["METRO"])
        board = await fp.get_departures(stop={"type": "id", "value": KAMPPI}, limit=1)
        gone = await fp.delete_user_variable("home")

    assert [variable["key"] for variable in kept["variables"]] == gone["deleted"] == ["home"]
    assert (found["id"], near["stops"][0]["modes"], len(board["departures"])) == (KAMPPI, ["METRO"], 1)


async def test_the_sync_bridge_works_inside_a_running_loop():
    with SyncFingerpost() as fp:
        assert fp.get_user_variables()["variables"] == []


def test_the_sync_bridge_explains_how_to_open_it():
    with pytest.raises(ToolError, match="not open"):
        SyncFingerpost().get_user_variables()


def test_a_home_can_be_set(tmp_path):
    with SyncFingerpost(home=tmp_path / "mine") as fp:
        fp.save_user_variable(key="a", type="other", value=1)

    assert (tmp_path / "mine" / "variables.sqlite").exists()
