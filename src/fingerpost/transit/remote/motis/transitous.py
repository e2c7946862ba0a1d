"""Transitous, the public MOTIS server: where it is asked, how fast, and whom an answer must name."""

from collections.abc import Mapping
from types import MappingProxyType

from fingerpost.net.pace import Pace
from fingerpost.net.request import split_address
from fingerpost.transit.model.place import Bounds

URL = "https://api.transitous.org"
_HOST = "api.transitous.org"
SOURCES_URL = "https://transitous.org/sources/"
ATTRIBUTION = (f"Transitous; the sources of its data: {SOURCES_URL}", "© OpenStreetMap contributors, ODbL")
WORLD = Bounds(south=-90.0, west=-180.0, north=90.0, east=180.0)

# Its gateway takes 20 plans a minute from one address, 10 of them at once; other questions a thousand.
_PLANS = Pace(name="transitous-plans", per_second=20 / 60, burst=10)
_REST = Pace(name="transitous", per_second=10, burst=40)
PACES: Mapping[str, Pace] = MappingProxyType(
    {_HOST: _REST} | {f"{_HOST}/api/v{version}/plan": _PLANS for version in range(1, 7)}
)


def is_transitous(url: str | None) -> bool:
    """Whether an address is Transitous' own."""
    return url is not None and split_address(url).hostname == _HOST
