"""Constants of TfL's Unified API: URL, key, rate limit, attribution, and London's bounds and time zone."""

from collections.abc import Mapping
from types import MappingProxyType

from fingerpost.store.limits import Pace
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.remote.kit.server import AddOption

ADDRESS = "https://api.tfl.gov.uk"
KEY_VARIABLE = "TFL_API_KEY"
KEY_HEADER = "app_key"
ZONE = "Europe/London"
LANGUAGE = "en"
# The area that TfL's lines and Oyster cover: from Reading to Shenfield, and from Chesham to Epsom Downs.
BOUNDS = Bounds(south=51.25, west=-1.0, north=51.75, east=0.4)
# TfL reportedly allows 500 requests per minute per key; 8 per second after a burst of 20 is about that.
PACES: Mapping[str, Pace] = MappingProxyType({"api.tfl.gov.uk": Pace(name="tfl", per_second=8, burst=20)})
# The attribution that TfL's terms require.
ATTRIBUTION = (
    "Powered by TfL Open Data",
    "Contains OS data © Crown copyright and database rights 2016",
    "Geomni UK Map data © and database rights [2019]",
)


TFL = AddOption(
    name="tfl",
    metavar=None,
    help=f"Transport for London's Unified API; set its key in {KEY_VARIABLE}.",
    fill=lambda _: {"url": ADDRESS, "key": KEY_VARIABLE},
)
