"""Which itineraries cannot be used, and what breaks them: a cancelled ride, or a change that is missed (rule B5)."""

from dataclasses import dataclass, replace

from fingerpost.transit.model.itinerary import Itinerary, Leg
from fingerpost.transit.rules.modes import trip_word


@dataclass(frozen=True, slots=True)
class MissedChange:
    """A change that the expected times break.

    ``there_s`` are the seconds between the two rides, negative where the second leaves before the first arrives;
    ``needed_s`` those that the change takes at least.
    """

    before: Leg
    after: Leg
    there_s: int
    needed_s: int

    @property
    def sentence(self) -> str:
        """What a rider is told: which change, and by how much it is missed."""
        change = f"The change from {_in_sentence(self.before)} to {_in_sentence(self.after)} at {self.after.start.name}"
        if self.there_s <= 0:
            return f"{change} is missed by {print_duration(self.needed_s - self.there_s)}."
        return f"{change} has {self.there_s} s of the {self.needed_s} s that it takes."


def ride_name(leg: Leg) -> str:
    """Return ``Line 7``, or what the vehicle is where the line has no name."""
    return f"Line {leg.line}" if leg.line else f"The {trip_word(leg.mode).lower()}"


def print_duration(seconds: int) -> str:
    """Return whole minutes; seconds where it is less than one minute."""
    return f"{seconds} s" if seconds < 60 else f"{round(seconds / 60)} min"


def list_missed_changes(itinerary: Itinerary) -> list[MissedChange]:
    """Return the changes that cannot be made at the expected times; a cancelled ride is another matter."""
    return [MissedChange(*missed) for missed in itinerary.missed_changes]


def as_promised(itinerary: Itinerary) -> Itinerary:
    """Return an itinerary at the times of the timetable; its delays and statuses still say what happened."""
    return Itinerary(tuple(replace(leg, as_promised=True) for leg in itinerary.legs))


def _in_sentence(leg: Leg) -> str:
    name = ride_name(leg)
    return name[:1].lower() + name[1:]
