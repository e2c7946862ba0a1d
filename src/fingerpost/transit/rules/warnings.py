"""Warnings of an answer, one entry per code (rules A2, B11)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class WarningCode(StrEnum):
    """The codes of warnings, each with its ``meaning``, which the reference prints."""

    meaning: str

    TRUNCATED_RESULTS = "truncated-results", "more was found than is shown"
    UNSUPPORTED_ACCESSIBILITY_FLAG = "unsupported-accessibility-flag", "the source knows nothing of wheelchairs"
    PREFERENCE_UNMET = "preference-unmet", "a preference could not be kept; the message says which and by how much"
    DISRUPTED_ITINERARY_REPLACED = "disrupted-itinerary-replaced", "a disrupted itinerary is not shown"
    REALTIME_STALE = "realtime-stale", "real time is old, or could not be had"
    REALTIME_UNMATCHED = (
        "realtime-unmatched",
        "real time speaks mostly of what the timetable lacks, or of ids of several feeds",
    )
    TIMEZONE_ASSUMED = "timezone-assumed", "a time without an offset was read in the network's zone"
    LABEL_GEOCODED = "label-geocoded", "a label was looked up as the name of a place"
    POSITION_GUESSED = "position-guessed", "where an address is was guessed; the message says between what"
    OUTSIDE_CALENDAR = "outside-calendar", "the timetable does not cover the day"
    FREQUENCY_BASED = "frequency-based", "a line runs by headway, so its times are approximate"
    TIMES_INTERPOLATED = "times-interpolated", "the feed has no times for some stops, so they are approximate"
    BY_ARRANGEMENT = "by-arrangement", "a line must be arranged with the operator"
    NETWORK_LEFT_OUT = "network-left-out", "a network failed, was late, or stood in for another"
    NO_USABLE_ITINERARY = (
        "no-usable-itinerary",
        "nothing found can be travelled; the message names the next departure that can",
    )
    IN_THE_PAST = "in-the-past", "the question is about a time that has passed"
    FEED_NOT_IN_SERVICE = "feed-not-in-service", "feeds have no service on the day; the message says which and why"

    def __new__(cls, code: str, meaning: str) -> Self:
        member = str.__new__(cls, code)
        member._value_, member.meaning = code, meaning
        return member


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001  # the contract's own name
    code: WarningCode
    message: str


def list_stated(*warnings: tuple[WarningCode, str | None]) -> list[Warning]:
    """Return the warnings that have a message."""
    return [Warning(code, message) for code, message in warnings if message is not None]


def add_reasons(message: str, reasons: Iterable[str]) -> str:
    """Join a message and its reasons, all without a full stop."""
    return ". ".join([message, *dict.fromkeys(reasons)])


class Warnings:
    def __init__(self, warnings: Iterable[Warning] = ()) -> None:
        self._messages: dict[WarningCode, list[str]] = {}
        self.add_all(warnings)

    def add(self, code: WarningCode, message: str | None) -> None:
        if message is not None and message not in self._messages.setdefault(code, []):
            self._messages[code].append(message)

    def add_all(self, warnings: Iterable[Warning]) -> None:
        for warning in warnings:
            self.add(warning.code, warning.message)

    def find(self, code: WarningCode) -> tuple[str, ...]:
        return tuple(self._messages.get(code, ()))

    def list_all(self) -> tuple[Warning, ...]:
        return tuple(Warning(code, " ".join(messages)) for code, messages in self._messages.items())
