"""The local server answers as MOTIS' published description says, where that file is at hand.

``FINGERPOST_MOTIS_OPENAPI`` names it, ``openapi.yaml`` of motis-project/motis.
"""

import asyncio
import os
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator, FormatChecker

from fingerpost.testing.networks.checking import TownNetwork
from fingerpost.testing.networks.facts import BESIDE_ALPHA, NEAR_ALPHA
from fingerpost.testing.networks.town import NOW, new_town
from tests.conformance.motis import MotisConformance
from tests.motis.town_server import PARAMETERS

OPENAPI = os.environ.get("FINGERPOST_MOTIS_OPENAPI", "")
pytestmark = pytest.mark.skipif(not OPENAPI, reason="needs MOTIS' openapi.yaml: FINGERPOST_MOTIS_OPENAPI")
PATHS = {
    "plan": "/api/v6/plan",
    "stoptimes": "/api/v6/stoptimes",
    "map/stops": "/api/v6/map/stops",
    "geocode": "/api/v1/geocode",
    "map/initial": "/api/v1/map/initial",
}
DATES = FormatChecker()
DATES.checks("date-time", raises=ValueError)(lambda text: bool(datetime.fromisoformat(text).tzinfo))


async def ask_everything(heard):
    def listen(server):
        answer = server.answer

        async def answered(target):
            status, body = await answer(target)
            heard.append((server.asked[-1][0].split("/", 3)[3], status[:3], body))
            return status, body

        server.answer = answered

    town = new_town(live=True)
    async with MotisConformance(listen).open(town) as network:
        asked = TownNetwork(network, town)
        await asked.plan("Alpha", "Gamma", "08:00")
        await asked.plan(asked.point(NEAR_ALPHA), "Gamma", "09:00", arrive_by=True)
        await asked.plan("Alpha", "Gamma", "08:00", step_free=True)
        await asked.board("Alpha", "08:00", "09:00")
        await network.find_places("Gamma", language="sv")
        await network.find_stop_place(town.stop_id("Beta"))
        await network.find_stop(f"{town.name}:NOWHERE")
        await network.list_stops_near(BESIDE_ALPHA, 2000.0)


def test_every_answer_and_parameter_matches_the_published_description(monkeypatch):
    """Where it contradicts itself, as to the two ends of a span of time, its words count."""
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    published, heard = yaml.safe_load(Path(OPENAPI).read_text(encoding="utf-8")), []
    published["components"]["schemas"]["TimeRange"].pop("required")
    asyncio.run(ask_everything(heard))
    faults = []
    for question, status, body in heard:
        answers = published["paths"][PATHS[question]]["get"]["responses"]
        schema = {**answers[status]["content"]["application/json"]["schema"], "components": published["components"]}
        checked = Draft202012Validator(schema, format_checker=DATES).iter_errors(body)
        faults += [(question, "/".join(map(str, fault.path)), fault.message) for fault in checked]

    assert faults == []
    assert {question for question, *_ in heard} == set(PATHS)
    for question, path in PATHS.items():
        known = {each["name"] for each in published["paths"][path]["get"].get("parameters", ())}
        assert set(PARAMETERS[question].split()) <= known, question
