"""``fingerpost network add --motis`` and ``--transitous``: the record, and Transitous' etiquette."""

import json
from urllib.parse import urlencode

import pytest

from fingerpost import clock
from fingerpost.apps.source_kinds import list_paces
from fingerpost.errors import ParameterError
from fingerpost.net.limiter import Limiter
from fingerpost.net.response import Response
from fingerpost.store.limits import Pace
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.remote.motis.network import MotisSource
from fingerpost.transit.remote.motis.transitous import TRANSITOUS, URL
from tests.motis.answers import LIMITS, Told, a_plan, a_query, a_ride
from tests.net.local_server import FakeTime


class _Asked:
    def __init__(self, told):
        self._told = told
        self.requests = []

    async def fetch(self, request, known=None):
        self.requests.append(request)
        status, body = await self._told.answer(f"{request.url}?{urlencode(request.params)}")
        raw = b"<html></html>" if body is None else json.dumps(body).encode()
        return Response(
            status=int(status[:3]), headers={}, body=raw, redacted_url=request.redacted_url, retrieved_at=clock.now()
        )


async def add_transitous(**stated):
    asked = _Asked(Told(map__initial={"lat": 50, "lon": 8, "zoom": 4}, plan=a_plan([a_ride()])))
    source = MotisSource(asked.fetch, LIMITS)
    record = NetworkRecord(name="NL", source="motis", **TRANSITOUS.fill(""), **stated)
    return asked, record, source, await source.learn(record)


async def test_transitous_is_never_listed():
    """Its terms forbid scraping."""
    asked, _, _, learned = await add_transitous(zone="Europe/Amsterdam")
    paths = [request.url.removeprefix(URL) for request in asked.requests]

    assert paths == ["/api/v1/map/initial"]
    assert (learned.feeds, learned.bounds) == ((), Bounds(south=-90, west=-180, north=90, east=180))


async def test_transitous_requires_a_zone():
    with pytest.raises(ParameterError, match="give the time zone") as raised:
        await add_transitous()

    assert "--zone Europe/Berlin" in raised.value.hint


async def test_every_answer_links_to_the_sources_and_states_when_it_was_retrieved(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T12:00:00+01:00")
    _, record, source, learned = await add_transitous(zone="Europe/Oslo", bounds=(50.7, 3.3, 53.6, 7.3))
    network = source.open(record, learned)
    answer = await network.plan_journeys(a_query())

    assert answer.provenance.attribution == (
        "Transitous; data sources: https://transitous.org/sources/",
        "© OpenStreetMap contributors, ODbL",
        "Retrieved from Transitous 2026-03-10T12:00:00+01:00",
    )
    assert answer.itineraries[0].legs[0].start.id == "NL:GVB_1"
    assert (network.profile.zone, network.profile.bounds.west) == ("Europe/Oslo", 3.3)


@pytest.mark.parametrize(
    ("path", "pace"),
    [
        ("/api/v6/plan", Pace(name="transitous-plans", per_second=20 / 60, burst=10)),
        ("/api/v6/stoptimes", Pace(name="transitous", per_second=10, burst=40)),
        ("/api/v1/geocode", Pace(name="transitous", per_second=10, burst=40)),
    ],
)
def test_plans_and_other_questions_have_the_paces_of_its_gateway(path, pace):
    assert Limiter(paces=list_paces()).pace(f"api.transitous.org{path}") == pace


async def test_a_pause_of_plans_does_not_affect_other_queries():
    time = FakeTime()
    limiter = Limiter(paces=list_paces(), clock_ms=time.clock_ms, sleep=time.sleep)
    await limiter.pause("api.transitous.org/api/v6/plan", 30.0)
    await limiter.wait("api.transitous.org/api/v1/geocode", max_wait_s=1.0)
    began = time.clock_s()
    await limiter.wait("api.transitous.org/api/v6/plan", max_wait_s=100.0)

    assert time.clock_s() - began == 30.0
