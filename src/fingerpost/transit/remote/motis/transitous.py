"""Transitous, the public MOTIS server, and the options of ``fingerpost network add`` for MOTIS servers."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fingerpost.net.request import read_template, split_address
from fingerpost.store.limits import Pace
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.remote.kit.server import AddOption

URL = "https://api.transitous.org"
_HOST = "api.transitous.org"
ATTRIBUTION = ("Transitous; data sources: https://transitous.org/sources/", "© OpenStreetMap contributors, ODbL")
WORLD = Bounds(south=-90.0, west=-180.0, north=90.0, east=180.0)

# Per minute, the gateway allows each address 20 plan requests (10 of them at once) and 1,000 other requests.
_PLANS = Pace(name="transitous-plans", per_second=20 / 60, burst=10)
_REST = Pace(name="transitous", per_second=10, burst=40)
PACES: Mapping[str, Pace] = MappingProxyType({_HOST: _REST, f"{_HOST}/api/v6/plan": _PLANS})


def is_transitous(url: str | None) -> bool:
    return url is not None and split_address(url).hostname == _HOST


_API = re.compile(r"/api(/.*)?$")


def _fill_url(text: str) -> dict[str, Any]:
    url = text.strip()
    read_template(url)
    parts = split_address(url)
    return {"url": parts._replace(path=_API.sub("", parts.path).rstrip("/")).geturl()}


MOTIS = AddOption(
    name="motis", metavar="URL", help="A MOTIS server (2.11 or later), such as http://localhost:8080.", fill=_fill_url
)
TRANSITOUS = AddOption(
    name="transitous",
    metavar=None,
    help="Transitous, the public MOTIS server run by volunteers; give --zone, and --bounds to cover part of the world.",
    fill=lambda _: {"url": URL},
)
