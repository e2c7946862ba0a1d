"""Warnings of an answer, one entry per code (rulings A2, B11)."""

from dataclasses import dataclass
from enum import StrEnum


class WarningCode(StrEnum):
    """The codes of warnings."""

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


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001  # contract 000's own name
    """A code for machines and a sentence for people."""

    code: WarningCode
    message: str


class Warnings:
    """Collects warnings in the order in which their codes were first added."""

    def __init__(self) -> None:
        self._messages: dict[WarningCode, list[str]] = {}

    def add(self, code: WarningCode, message: str) -> None:
        """Add a warning; further messages of a code are joined to its first, duplicates are dropped."""
        messages = self._messages.setdefault(code, [])
        if message not in messages:
            messages.append(message)

    def extend(self, others: "Warnings") -> None:
        """Add all warnings of another collection."""
        for code in WarningCode:
            for message in others.find(code):
                self.add(code, message)

    def find(self, code: WarningCode) -> tuple[str, ...]:
        """Return the messages of a code."""
        return tuple(self._messages.get(code, ()))

    def list_all(self) -> tuple[Warning, ...]:
        """Return one entry a code."""
        return tuple(Warning(code, " ".join(messages)) for code, messages in self._messages.items())
