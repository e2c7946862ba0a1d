"""Map MOTIS' modes and GTFS route types to modes; what is not known is OTHER (rule A9)."""

from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.rules.modes import mode_of

WALK = "WALK"
# Ways on the street that no rider asked for. ODM and RIDE_SHARING are such where they are no trip of a timetable.
ON_STREET = frozenset(
    {"BIKE", "RENTAL", "CAR", "HGV", "CAR_PARKING", "CAR_DROPOFF", "FLEX", "ODM", "RIDE_SHARING"}
    | {"DEBUG_BUS_ROUTE", "DEBUG_RAILWAY_ROUTE", "DEBUG_FERRY_ROUTE"}
)
BY_ARRANGEMENT = frozenset({"ODM", "RIDE_SHARING", "FLEX"})
_MODES = {
    "TRAM": Mode.TRAM,
    "SUBWAY": Mode.METRO,
    "BUS": Mode.BUS,
    "COACH": Mode.COACH,
    "FERRY": Mode.FERRY,
    # Until version 5 of the API, METRO was the word for suburban trains.
    "METRO": Mode.RAIL,
    "SUBURBAN": Mode.RAIL,
    "RAIL": Mode.RAIL,
    "HIGHSPEED_RAIL": Mode.RAIL,
    "LONG_DISTANCE": Mode.RAIL,
    "NIGHT_RAIL": Mode.RAIL,
    "REGIONAL_RAIL": Mode.RAIL,
    "REGIONAL_FAST_RAIL": Mode.RAIL,
}


def read_mode(name: str, route_type: int | None = None) -> Mode:
    """Return the mode of a ride or a stop: its GTFS route type decides, else the server's word."""
    if route_type is not None:
        return mode_of(route_type)
    return _MODES.get(name, Mode.OTHER)
