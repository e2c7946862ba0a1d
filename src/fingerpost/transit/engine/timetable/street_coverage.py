"""How much of a network the streets of an extract cover."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StreetCoverage:
    """What an extract gives a network.

    Attributes:
        extract: the path of the file.
        stops: how many stops one can board or alight at.
        covered_stops: how many of these stand near a street of the extract; the others keep the straight line.
        street_km: kilometres that may be walked where the network's riders walk.
        left_out_km: kilometres left out because they hang together with nothing else.
        matched_stops: how many stops are where the extract has the stop of the same code or id.
        entered_stops: how many stops are walked to by the entrances of their station.
        cut_ways: ways that the extract, or the area where riders walk, holds in part.
    """

    extract: str
    stops: int
    covered_stops: int
    street_km: float
    left_out_km: float
    cut_ways: int
    matched_stops: int = 0
    entered_stops: int = 0

    @property
    def is_whole(self) -> bool:
        return self.covered_stops == self.stops
