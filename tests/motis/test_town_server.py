"""The local server answers as MOTIS' published description, ``openapi.yaml``, says."""

import asyncio
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator, FormatChecker

from fingerpost.testing.networks.checking import TownNetwork
from fingerpost.testing.networks.network_checks import BESIDE_ALPHA, NEAR_ALPHA
from fingerpost.testing.networks.town import NOW, new_town
from tests.conformance.motis import MotisConformance
from tests.motis.town_server import PARAMETERS

PATHS = {
    "plan": "/api/v6/plan",
    "stoptimes": "/api/v6/stoptimes",
    "map/stops": "/api/v6/map/stops",
    "geocode": "/api/v1/geocode",
    "map/initial": "/api/v1/map/initial",
}
DATES = FormatChecker()
DATES.checks("date-time", raises=ValueError)(lambda text: bool(datetime.fromisoformat(text).tzinfo))


@pytest.fixture(scope="module")
def told():
    heard = []

    def listen(server):
        answer = server.answer

        async def answered(target):
            status, body = await answer(target)
            path, query = server.asked[-1]
            heard.append((path.split("/", 3)[3], query, status, body))
            return status, body

        server.answer = answered

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FINGERPOST_NOW", NOW)
        asyncio.run(_ask_everything(MotisConformance(listen)))
    return heard


async def _ask_everything(source):
    town = new_town(live=True)
    async with source.open(town) as network:
        asked = TownNetwork(network, town)
        await asked.plan("Alpha", "Gamma", "08:00")
        await asked.plan(asked.point(NEAR_ALPHA), "Gamma", "09:00", arrive_by=True)
        await asked.plan("Alpha", "Gamma", "08:00", step_free=True)
        await asked.plan(asked.point(NEAR_ALPHA), asked.point(BESIDE_ALPHA), "08:00")
        await asked.board("Alpha", "08:00", "09:00")
        await network.find_places("Gamma", language="sv")
        await network.find_stop(town.stop_id("Beta"), whole_place=True)
        await network.find_stop(f"{town.name}:NOWHERE")
        await network.list_stops_near(BESIDE_ALPHA, 2000.0)


@pytest.fixture(scope="module")
def published():
    return yaml.safe_load(Path(__file__).with_name("openapi.yaml").read_text(encoding="utf-8"))


def test_every_answer_matches_the_published_description(told, published):
    """Where it contradicts itself, as to the two ends of a span of time, its words count."""
    schemas = published["components"]["schemas"]
    schemas["TimeRange"].pop("required")

    faults = []
    for question, _, status, body in told:
        responses = published["paths"][PATHS[question]]["get"]["responses"]
        schema = responses[status[:3]]["content"]["application/json"]["schema"] | {"components": {"schemas": schemas}}
        found = Draft202012Validator(schema, format_checker=DATES).iter_errors(body)
        faults += [(question, "/".join(map(str, fault.path)), fault.message) for fault in found]

    assert faults == []


def test_every_parameter_is_published(published):
    for question, path in PATHS.items():
        known = {each["name"] for each in published["paths"][path]["get"].get("parameters", ())}
        assert set(PARAMETERS[question].split()) <= known, question
