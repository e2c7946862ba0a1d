"""Map OpenTripPlanner's modes and GTFS route types to modes; what is not known is OTHER (rule A9)."""

from fingerpost.transit.model.itinerary import Access, Mode
from fingerpost.transit.rules.modes import mode_of

_MODES = {
    "WALK": Mode.WALK,
    "BICYCLE": Mode.BIKE,
    "SCOOTER": Mode.SCOOTER,
    "BUS": Mode.BUS,
    "TROLLEYBUS": Mode.BUS,
    "COACH": Mode.COACH,
    "TRAM": Mode.TRAM,
    "CABLE_CAR": Mode.TRAM,
    "SUBWAY": Mode.METRO,
    "RAIL": Mode.RAIL,
    "FERRY": Mode.FERRY,
}
_ACCESS = {"POSSIBLE": Access.YES, "NOT_POSSIBLE": Access.NO}


def read_mode(name: str | None, route_type: int | None = None) -> Mode:
    """Return the mode of a leg or a route: its GTFS route type decides, else the server's word."""
    if route_type is not None:
        return mode_of(route_type)
    return _MODES.get(name or "", Mode.OTHER)


def read_access(word: str | None) -> Access:
    """Return what a WheelchairBoarding says; anything unknown is unknown."""
    return _ACCESS.get(word or "", Access.UNKNOWN)
