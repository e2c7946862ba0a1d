"""House numbers as people and OpenStreetMap write them: ``10``, ``10 B``, ``14-16``, ``10 B 24``."""

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"\s*(\d{1,5})\s*(?:([a-zåäö])(?![a-zåäö]))?(?:\s*[-\u2013/]\s*(\d{1,5}))?", re.IGNORECASE)
# A range of more numbers than this is a slip of the pen.
_WIDEST = 200


@dataclass(frozen=True, slots=True)
class HouseNumber:
    """The numbers that a house has, ``first`` to ``last``, and its letter in lower case, "" for none."""

    first: int
    last: int
    letter: str = ""

    @property
    def text(self) -> str:
        """The number to read."""
        numbers = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{numbers}{self.letter}"

    def covers(self, number: int) -> bool:
        """Whether a number is one of its own; those of a range lie on the side of the street where its ends do."""
        if not self.first <= number <= self.last:
            return False
        return (self.last - self.first) % 2 == 1 or (number - self.first) % 2 == 0


def read_house_number(text: str) -> HouseNumber | None:
    """Return the house number at the beginning of a text; what follows it (floors, flats) is left; None for none."""
    match = _NUMBER.match(text)
    if match is None:
        return None
    first = int(match[1])
    last = int(match[3]) if match[3] else first
    if not first <= last <= first + _WIDEST:
        last = first
    return HouseNumber(first, last, (match[2] or "").lower())
