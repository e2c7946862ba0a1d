"""A local Digitransit: its own host names and addresses over TLS, answered by a test."""

import json
import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.model.provenance import FeedVersion
from fingerpost.transit.remote.opentripplanner.digitransit import DIGITRANSIT, KEY_VARIABLE, REGIONS
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.net.local_server import LocalServer, answer, anywhere, listening, new_client
from tests.net.reply_server import Port
from tests.net.test_tls import new_certificate
from tests.opentripplanner.answers import LIMITS

HOST = "api.digitransit.fi"
KEY = "m4rk3r-k3y-0f-d1g1tr4ns1t"
LEARNED = LearnedProfile(
    bounds=REGIONS["hsl"],
    zone="Europe/Helsinki",
    languages=("fi", "sv", "en"),
    feeds=(FeedVersion(name="HSL"),),
    attribution=("Digitransit, CC BY 4.0",),
    learned_at=datetime(2026, 3, 1, tzinfo=UTC),
)


class Digitransit(LocalServer):
    """Answers by path: ``routing`` and ``geocoding`` hold bytes, used in turn, the last for ever."""

    def __init__(self, *, routing=(), geocoding=()):
        super().__init__([])
        self._told = {"routing": list(routing), "geocoding": list(geocoding)}

    async def next_answer(self, asked):
        told = self._told[asked.target.split("/")[1]]
        return told.pop(0) if len(told) > 1 else told[0]

    def questions(self, service):
        return [each for each in self.asked if each.target.startswith(f"/{service}/")]

    def params(self):
        return {
            name: value for name, (value,) in parse_qs(urlsplit(self.questions("geocoding")[-1].target).query).items()
        }


@asynccontextmanager
async def serving_digitransit(folder, upstream, *, environ=None, host=HOST):
    certificate = new_certificate(folder, host)
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(certificate)
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.load_verify_locations(certificate)
    given = {"private_hosts": [host], "resolve": anywhere, "tls": trusting}
    given["environ"] = {KEY_VARIABLE: KEY} if environ is None else environ
    async with listening(upstream, own), new_client(inner=Port(upstream.port), **given) as client:
        yield client


@asynccontextmanager
async def asking_hsl(folder, upstream, **given):
    async with serving_digitransit(folder, upstream, **given) as client:
        yield OpenTripPlannerSource(client.fetch, LIMITS).open(new_hsl(), LEARNED)


def new_hsl():
    return NetworkRecord(name="HSL", source="opentripplanner", **DIGITRANSIT.fill("hsl"))


def features(*told, **root):
    made = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [lon, lat]},
            "properties": {"id": f"node:{number}", "name": name, "layer": "venue", **more},
        }
        for number, (name, lat, lon, more) in enumerate(told)
    ]
    found = {"geocoding": {"version": "0.2"}, "type": "FeatureCollection", "features": made, **root}
    return answer(body=json.dumps(found).encode(), Content_Type="application/json")
