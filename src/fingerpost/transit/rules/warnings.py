"""Warnings of an answer, one entry per code (rules A2, B11)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class WarningCode(StrEnum):
    TRUNCATED_RESULTS = "truncated-results"
    UNSUPPORTED_ACCESSIBILITY_FLAG = "unsupported-accessibility-flag"
    PREFERENCE_UNMET = "preference-unmet"
    DISRUPTED_ITINERARY_REPLACED = "disrupted-itinerary-replaced"
    REALTIME_STALE = "realtime-stale"
    REALTIME_UNMATCHED = "realtime-unmatched"
    TIMEZONE_ASSUMED = "timezone-assumed"
    LABEL_GEOCODED = "label-geocoded"
    POSITION_GUESSED = "position-guessed"
    OUTSIDE_CALENDAR = "outside-calendar"
    FREQUENCY_BASED = "frequency-based"
    BY_ARRANGEMENT = "by-arrangement"
    NETWORK_LEFT_OUT = "network-left-out"
    NO_USABLE_ITINERARY = "no-usable-itinerary"
    IN_THE_PAST = "in-the-past"
    FEED_NOT_IN_SERVICE = "feed-not-in-service"


MEANINGS: Mapping[WarningCode, str] = {
    WarningCode.TRUNCATED_RESULTS: "more was found than is shown",
    WarningCode.UNSUPPORTED_ACCESSIBILITY_FLAG: "the source knows nothing of wheelchairs",
    WarningCode.PREFERENCE_UNMET: "a preference could not be kept; the message says which and by how much",
    WarningCode.DISRUPTED_ITINERARY_REPLACED: "a disrupted itinerary is not shown",
    WarningCode.REALTIME_STALE: "real time is old, or could not be had",
    WarningCode.REALTIME_UNMATCHED: "real time speaks mostly of what the timetable lacks, or of ids of several feeds",
    WarningCode.TIMEZONE_ASSUMED: "a time without an offset was read in the network's zone",
    WarningCode.LABEL_GEOCODED: "a label was looked up as the name of a place",
    WarningCode.POSITION_GUESSED: "where an address is was guessed; the message says between what",
    WarningCode.OUTSIDE_CALENDAR: "the timetable does not cover the day",
    WarningCode.FREQUENCY_BASED: "a line runs by headway, so its times are approximate",
    WarningCode.BY_ARRANGEMENT: "a line must be arranged with the operator",
    WarningCode.NO_USABLE_ITINERARY: "nothing found can be travelled; the message names the next departure that can",
    WarningCode.FEED_NOT_IN_SERVICE: "feeds have no service on the day; the message says which and why",
    WarningCode.IN_THE_PAST: "the question is about a time that has passed",
    WarningCode.NETWORK_LEFT_OUT: "a network failed, was late, or stood in for another",
}
"""What the reference says of each code."""


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001  # the contract's own name
    """A code for machines and a sentence for people."""

    code: WarningCode
    message: str


def add_reasons(message: str, reasons: Iterable[str]) -> str:
    """Return a message followed by sentences, each once; like the message of an error it ends without a stop."""
    return ". ".join([message, *dict.fromkeys(reason.rstrip(".") for reason in reasons)])


class Warnings:
    """Collects warnings in the order in which their codes were first added."""

    def __init__(self) -> None:
        self._messages: dict[WarningCode, list[str]] = {}

    def add(self, code: WarningCode, message: str | None) -> None:
        """Add a warning, none for None; messages of one code are joined, duplicates are dropped."""
        if message is not None and message not in self._messages.setdefault(code, []):
            self._messages[code].append(message)

    def add_found(self, warning: Warning | None) -> None:
        if warning is not None:
            self.add(warning.code, warning.message)

    def extend(self, others: "Warnings") -> None:
        for code in WarningCode:
            for message in others.find(code):
                self.add(code, message)

    def find(self, code: WarningCode) -> tuple[str, ...]:
        return tuple(self._messages.get(code, ()))

    def list_all(self) -> tuple[Warning, ...]:
        return tuple(Warning(code, " ".join(messages)) for code, messages in self._messages.items())
