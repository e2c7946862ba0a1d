"""Warnings in transit answers, and their codes (rules A2, B11)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class WarningCode(StrEnum):
    """Warning codes; docs/reference/messages.md lists each ``meaning``."""

    meaning: str

    TRUNCATED_RESULTS = "truncated-results", "The answer shows fewer results than were found."
    UNSUPPORTED_ACCESSIBILITY_FLAG = "unsupported-accessibility-flag", "The source has no wheelchair data."
    PREFERENCE_UNMET = "preference-unmet", "A preference is not met; the message says which one and by how much."
    DISRUPTED_ITINERARY_REPLACED = "disrupted-itinerary-replaced", "Other itineraries replace a disrupted one."
    REALTIME_STALE = "realtime-stale", "Realtime data is old or missing."
    REALTIME_UNMATCHED = (
        "realtime-unmatched",
        "Most realtime data does not match the timetable, or its ids occur in several feeds.",
    )
    TIMEZONE_ASSUMED = "timezone-assumed", "A time without an offset was interpreted as local time."
    LABEL_GEOCODED = "label-geocoded", "A label resolved to the place with that name."
    POSITION_GUESSED = "position-guessed", "The position of an address is estimated; the message says how."
    OUTSIDE_CALENDAR = "outside-calendar", "The timetable does not cover the requested day."
    FREQUENCY_BASED = (
        "frequency-based",
        "A line runs at a fixed interval, not at fixed times, so times are approximate.",
    )
    TIMES_INTERPOLATED = "times-interpolated", "The feed has no times for some stops, so these times are approximate."
    BY_ARRANGEMENT = "by-arrangement", "A ride must be booked with the operator, or requested from the driver."
    NETWORK_LEFT_OUT = "network-left-out", "A network failed, did not answer in time, or was replaced by its fallback."
    NO_USABLE_ITINERARY = (
        "no-usable-itinerary",
        "None of the itineraries found is usable; the message gives the next usable departure.",
    )
    IN_THE_PAST = "in-the-past", "The requested time has passed."
    FEED_NOT_IN_SERVICE = "feed-not-in-service", "Some feeds have no service on that day; the message names them."

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
    """Append reasons to a message, as sentences, without a final period."""
    return ". ".join([message, *dict.fromkeys(reasons)])


def merge_by_code(warnings: Iterable[Warning]) -> tuple[Warning, ...]:
    """Merge warnings by code, and join their distinct messages."""
    messages: dict[WarningCode, dict[str, None]] = {}
    for warning in warnings:
        messages.setdefault(warning.code, {})[warning.message] = None
    return tuple(Warning(code, " ".join(texts)) for code, texts in messages.items())
