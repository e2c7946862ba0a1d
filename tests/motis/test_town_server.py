"""The local server answers as MOTIS' published description, ``openapi.yaml``, says."""

import asyncio
from datetime import datetime

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from tests.conformance.motis import MotisConformance
from tests.conformance.network_checks import BESIDE_ALPHA, NEAR_ALPHA
from tests.conformance.town import NOW, new_town
from tests.conformance.town_network import TownNetwork
from tests.motis.town_server import OPENAPI

DATES = FormatChecker()
DATES.checks("date-time", raises=ValueError)(lambda text: bool(datetime.fromisoformat(text).tzinfo))


@pytest.fixture(scope="module")
def told():
    heard = []

    def listen(server):
        answer = server.answer

        async def answered(target):
            status, body = await answer(target)
            heard.append((server.asked[-1][0], status, body))
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


def test_every_answer_matches_the_published_description(told):
    """Where it contradicts itself, as to the two ends of a span of time, its words count."""
    schemas = OPENAPI["components"]["schemas"]
    schemas["TimeRange"].pop("required", None)

    faults = []
    for path, status, body in told:
        responses = OPENAPI["paths"][path]["get"]["responses"]
        schema = responses[status[:3]]["content"]["application/json"]["schema"] | {"components": {"schemas": schemas}}
        found = Draft202012Validator(schema, format_checker=DATES).iter_errors(body)
        faults += [(path, "/".join(map(str, fault.path)), fault.message) for fault in found]

    assert faults == []
