"""The options of ``fingerpost network add`` for OpenTripPlanner servers."""

from typing import Any

from fingerpost.errors import ParameterError
from fingerpost.net.request import read_template, split_address
from fingerpost.transit.remote.kit.add_option import AddOption
from fingerpost.transit.remote.opentripplanner.regions import KEY_VARIABLE, REGIONS

_ENDPOINT = "/otp/gtfs/v1"


def _fill_url(text: str) -> dict[str, Any]:
    """Return the record of a server; where no path is named, the one that OpenTripPlanner serves."""
    url = text.strip()
    read_template(url)
    parts = split_address(url)
    if parts.path.rstrip("/") in ("", "/otp"):
        url = parts._replace(path=_ENDPOINT).geturl()
    return {"url": url}


def _fill_region(text: str) -> dict[str, Any]:
    region = REGIONS.get(text.strip().lower())
    if region is None:
        raise ParameterError(
            f"Digitransit has no region {text.strip()!r}",
            {"field": "digitransit"},
            hint=f"Regions: {', '.join(REGIONS)}",
        )
    return {"url": region.url, "key": KEY_VARIABLE}


OTP = AddOption(
    name="otp",
    metavar="URL",
    help="An OpenTripPlanner 2 server (2.6 or later), such as http://localhost:8080.",
    fill=_fill_url,
)
DIGITRANSIT = AddOption(
    name="digitransit",
    metavar="REGION",
    help=f"A region of Digitransit ({', '.join(REGIONS)}); its key stands in {KEY_VARIABLE}.",
    fill=_fill_region,
)
