"""What an answer must say beside itself: one entry a code (rulings A2, B11)."""

from dataclasses import dataclass
from enum import StrEnum


class WarningCode(StrEnum):
    """The closed list of our warnings."""

    TRUNCATED_RESULTS = "truncated-results"
    UNSUPPORTED_ACCESSIBILITY_FLAG = "unsupported-accessibility-flag"
    PREFERENCE_UNMET = "preference-unmet"
    DISRUPTED_ITINERARY_REPLACED = "disrupted-itinerary-replaced"
    REALTIME_STALE = "realtime-stale"
    TIMEZONE_ASSUMED = "timezone-assumed"
    LABEL_GEOCODED = "label-geocoded"
    OUTSIDE_CALENDAR = "outside-calendar"
    FREQUENCY_BASED = "frequency-based"
    BY_ARRANGEMENT = "by-arrangement"
    NETWORK_LEFT_OUT = "network-left-out"
    NO_USABLE_ITINERARY = "no-usable-itinerary"
    IN_THE_PAST = "in-the-past"


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001  # contract 000's own name
    """A code for machines and a sentence for people."""

    code: WarningCode
    message: str


class Warnings:
    """Collects warnings in the order of their first mention."""

    def __init__(self) -> None:
        self._messages: dict[WarningCode, list[str]] = {}

    def add(self, code: WarningCode, message: str) -> None:
        """Say something; a second message of a code joins the first, the same message is said once."""
        said = self._messages.setdefault(code, [])
        if message not in said:
            said.append(message)

    def extend(self, others: "Warnings") -> None:
        """Say all that others say."""
        for code in WarningCode:
            for message in others.find(code):
                self.add(code, message)

    def find(self, code: WarningCode) -> tuple[str, ...]:
        """Return the messages of a code."""
        return tuple(self._messages.get(code, ()))

    def list_all(self) -> tuple[Warning, ...]:
        """Return one entry a code."""
        return tuple(Warning(code, " ".join(said)) for code, said in self._messages.items())
