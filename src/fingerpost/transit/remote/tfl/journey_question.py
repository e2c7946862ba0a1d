"""A trip in TfL's words: two ends in the path, the rest as parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Optimize
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.remote.tfl.wire_times import print_wall_clock

PATH = ("Journey", "JourneyResults")


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyQuestion:
    """What TfL is asked.

    ``origin`` and ``destination`` are whatever TfL reads: its ids, ``lat,lon``, postcodes, names.
    ``accessibility`` is TfL's own word, such as StepFreeToVehicle; None asks for nothing.
    """

    origin: str
    destination: str
    instant: int
    arrive_by: bool = False
    preference: str = "LeastTime"
    accessibility: str | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """The parts of the path, to be quoted."""
        return (*PATH, self.origin, "to", self.destination)

    def list_params(self, zone: ZoneInfo) -> Mapping[str, str]:
        """Return the parameters.

        Without ``calcOneDirection`` TfL also offers what leaves before the time, or arrives after it.
        """
        date, time = print_wall_clock(self.instant, zone, arrive_by=self.arrive_by)
        params = {
            "date": date,
            "time": time,
            "timeIs": "Arriving" if self.arrive_by else "Departing",
            "journeyPreference": self.preference,
            "calcOneDirection": "true",
        }
        if self.accessibility is not None:
            params["accessibilityPreference"] = self.accessibility
        return params


def print_position(coordinate: Coordinate) -> str:
    """Return a position as TfL reads it."""
    return f"{coordinate.lat:.6f},{coordinate.lon:.6f}"


def choose_preference(optimize: Optimize, *, shorter_walks: bool) -> str:
    """Return TfL's word for what comes first."""
    if shorter_walks:
        return "LeastWalking"
    return "LeastInterchange" if optimize is Optimize.FEW_TRANSFERS else "LeastTime"
