"""Map TfL's modes to modes; what is not known is OTHER (rule A9)."""

from fingerpost.transit.model.itinerary import Mode

_MODES = {
    "walking": Mode.WALK,
    "cycle": Mode.BIKE,
    "cycle-hire": Mode.BIKE,
    "bus": Mode.BUS,
    "replacement-bus": Mode.BUS,
    "coach": Mode.COACH,
    "tube": Mode.METRO,
    "dlr": Mode.RAIL,
    "elizabeth-line": Mode.RAIL,
    "overground": Mode.RAIL,
    "national-rail": Mode.RAIL,
    "international-rail": Mode.RAIL,
    "tram": Mode.TRAM,
    "river-bus": Mode.FERRY,
    "river-tour": Mode.FERRY,
}
_RAIL_LINES = ("liberty", "lioness", "mildmay", "suffragette", "weaver", "windrush")


def read_mode(name: str | None) -> Mode:
    """Return the mode of TfL's word; the Overground's lines count as its own."""
    word = (name or "").lower()
    return Mode.RAIL if word in _RAIL_LINES else _MODES.get(word, Mode.OTHER)
