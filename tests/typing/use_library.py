"""The library in user code: every line here must type-check."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

from fingerpost import Fingerpost, SyncFingerpost
from fingerpost.contract.published_tool import Answer


async def ask_for_trips(home: Path) -> None:
    async with Fingerpost(home=home, user="ada") as fp:
        assert_type(fp, Fingerpost)
        assert_type(await fp.plan_trip(origin="Kamppi", destination=(60.2055, 24.6559)), dict[str, Any])
        assert_type(
            await fp.plan_trip(
                origin={"type": "coords", "value": {"lat": 60.1699, "lon": 24.9384}},
                destination="Espoo",
                when={"type": "arrive", "time": "2026-03-10T09:00:00+02:00"},
                constraints={"stepFree": True},
                limit=2,
                include_disruption_alt=False,
            ),
            dict[str, Any],
        )
        assert_type(await fp.get_departures(stop="Kamppi", window_minutes=30), dict[str, Any])
        assert_type(await fp.find_stops(lat=60.1, lon=24.9, include_modes=("BUS", "TRAM")), dict[str, Any])
        assert_type(await fp.find_address_or_stop("kampen", focus_point={"lat": 60.1, "lon": 24.9}), dict[str, Any])


async def ask_for_figures_and_runs(fp: Fingerpost, plan: Mapping[str, Any]) -> None:
    assert_type(await fp.sec_financial_data("financial_facts", {"ticker": "AAPL"}), dict[str, Any])
    assert_type(await fp.run_plan(plan=plan, wait_seconds=5), dict[str, Any])
    assert_type(await fp.get_plan_run("run-1", include=["steps"]), dict[str, Any])


async def ask_by_name(fp: Fingerpost) -> None:
    assert_type(await fp.call("get_departures", {"stop": {"type": "label", "value": "Kamppi"}}), dict[str, Any])
    answer = await fp.answer("get_departures", None, include=["geometry"])
    assert_type(answer, Answer)
    assert_type(answer.body, dict[str, Any])
    assert_type(answer.text, str)
    assert_type(answer.is_error, bool)


def ask_without_await() -> None:
    with SyncFingerpost(user="ada") as fp:
        assert_type(fp, SyncFingerpost)
        assert_type(fp.plan_trip(origin="Kamppi", destination=(60.2055, 24.6559), limit=1), dict[str, Any])
        assert_type(
            fp.save_user_variable(key="home", type="location", value={"lat": 60.1, "lon": 24.9}), dict[str, Any]
        )
        assert_type(fp.get_user_variables(), dict[str, Any])
        assert_type(fp.answer("get_user_variables"), Answer)
