"""TfL's URL, key and rate limit, and the facts about London that need no request."""

from collections.abc import Mapping
from types import MappingProxyType

from fingerpost.net.limiter import Pace
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.remote.kit.add_option import AddOption

KIND = "tfl"
ADDRESS = "https://api.tfl.gov.uk"
KEY_VARIABLE = "TFL_API_KEY"
KEY_HEADER = "app_key"
ZONE = "Europe/London"
LANGUAGE = "en"
# From Reading to Shenfield and from Chesham to Epsom Downs: as far as TfL's own lines and Oyster reach.
BOUNDS = Bounds(south=51.25, west=-1.0, north=51.75, east=0.4)
# TfL reportedly allows a key 500 requests a minute: 20 at once and 8 a second are hardly more.
PACES: Mapping[str, Pace] = MappingProxyType({"api.tfl.gov.uk": Pace(name="tfl", per_second=8, burst=20)})
# TfL's terms require these lines with its data.
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
