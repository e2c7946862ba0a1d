"""Digitransit's regions, and the options of ``fingerpost network add`` for OpenTripPlanner servers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fingerpost.errors import ParameterError
from fingerpost.net.request import read_template, split_address
from fingerpost.store.limits import Pace
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.model.profile import ANSWER_DEADLINE_S
from fingerpost.transit.remote.kit.server import AddOption

KEY_VARIABLE = "DIGITRANSIT_API_KEY"
KEY_HEADER = "digitransit-subscription-key"
GEOCODING_URL = "https://api.digitransit.fi/geocoding/v1"
# The gateway's own timeout for the router that covers all of Finland.
FINLAND_DEADLINE_S = 35.0
# The limit that Digitransit's operators request; all regions and the geocoder share one host, and therefore one limit.
PACES: Mapping[str, Pace] = MappingProxyType({"api.digitransit.fi": Pace(name="digitransit", per_second=10, burst=30)})
ATTRIBUTION = ("Digitransit, CC BY 4.0", "© OpenStreetMap contributors, ODbL")


REGIONS: Mapping[str, Bounds] = MappingProxyType(
    {
        "finland": Bounds(south=57.4, west=19.0, north=70.2, east=31.7),
        "hsl": Bounds(south=59.9, west=23.9, north=60.8, east=25.8),
        # Waltti covers towns from Raseborg to Rovaniemi.
        "waltti": Bounds(south=59.7, west=20.9, north=67.0, east=31.6),
        "varely": Bounds(south=59.7, west=20.5, north=61.8, east=23.8),
    }
)
_ROUTING = "https://api.digitransit.fi/routing/v2/{region}/gtfs/v1"


def find_region(url: str | None) -> str | None:
    return next((region for region in REGIONS if _ROUTING.format(region=region) == (url or "").rstrip("/")), None)


def get_deadline_s(url: str | None) -> float:
    """Return the deadline for journey and departure requests."""
    return FINLAND_DEADLINE_S if find_region(url) == "finland" else ANSWER_DEADLINE_S


def _fill_url(text: str) -> dict[str, Any]:
    url = text.strip()
    read_template(url)
    parts = split_address(url)
    # Add OpenTripPlanner's default path.
    if parts.path.rstrip("/") in ("", "/otp"):
        url = parts._replace(path="/otp/gtfs/v1").geturl()
    return {"url": url}


def _fill_region(text: str) -> dict[str, Any]:
    region = text.strip().lower()
    if region not in REGIONS:
        raise ParameterError(
            f"Digitransit has no region {text.strip()!r}",
            {"field": "digitransit"},
            hint=f"Regions: {', '.join(REGIONS)}",
        )
    return {"url": _ROUTING.format(region=region), "key": KEY_VARIABLE}


OTP = AddOption(
    name="otp",
    metavar="URL",
    help="An OpenTripPlanner 2 server (2.7 to 2.9), such as http://localhost:8080.",
    fill=_fill_url,
)
DIGITRANSIT = AddOption(
    name="digitransit",
    metavar="REGION",
    help=f"A region of Digitransit ({', '.join(REGIONS)}); set its key in {KEY_VARIABLE}.",
    fill=_fill_region,
)
