"""Remedies: kinds of advice on errors, worded for agents.

``apps/cli/error_texts.py`` words them for the command line, and ``apps/views/assets/strings.js`` for the web page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self


class RemedyKind(StrEnum):
    """The kinds of remedies, each with its ``sentence`` for agents; braces are filled with a remedy's values."""

    sentence: str

    # Text that suits both agents and people.
    ADVICE = "advice", "{text}"
    # The plan_trip contract's own hint.
    LOOSEN_LIMITS = "loosen-limits", "Try increasing maxWalkingDistance or adjusting departure time"
    LOOK_UP_PLACE = "look-up-place", "Look the place up with findAddressOrStop, or give its position as lat,lon"
    LOOK_UP_STOP = "look-up-stop", "Look the stop up with findAddressOrStop or find_stops"
    SEARCH_NEARBY = "search-nearby", "Check the spelling, or search around a coordinate with find_stops"
    SEARCH_FARTHER = "search-farther", "Raise maxDistanceMeters, or leave it out"
    SAVE_PLACE = (
        "save-place",
        "Look the place up with findAddressOrStop and use its lat,lon, or save it with save_user_variable",
    )
    SAVE_AGAIN = (
        "save-again",
        "Save it again with save_user_variable: a stop by its id, a place as a location with lat and lon",
    )
    USE_CANDIDATE = "use-candidate", "Choose a candidate and use its token as {field}"
    # Candidates of the lookup contract have no token; its tools accept the objects (rule D2).
    SEND_CANDIDATE = "send-candidate", "Send the intended candidate as {field}"
    CONFIRM_CANDIDATE = (
        "confirm-candidate",
        "If you mean {name}, use {token} as {field}; otherwise spell it differently",
    )
    SEND_PARAMETER_VALUE = "send-parameter-value", "Send the parameterValue of the intended place instead"
    # SET_KEY: a key from ``settings`` was refused. ADD_KEY: no key was sent.
    SET_KEY = "set-key", "The operator must set a valid key for this source"
    ADD_KEY = "add-key", "The operator must set a valid key for this source"
    START_FROM_RUN = "start-from-run", "Start a new run with memory_of set to this one"
    END_A_RUN = "end-a-run", "Wait for one to end, or cancel one: call run_plan with its run_id and action cancel"

    def __new__(cls, kind: str, sentence: str) -> Self:
        """Create a member whose value is its kind."""
        member = str.__new__(cls, kind)
        member._value_, member.sentence = kind, sentence
        return member


@dataclass(frozen=True, slots=True)
class Remedy:
    """A kind of remedy and its values."""

    kind: RemedyKind
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The advice for agents, without a full stop."""
        return self.kind.sentence.format_map(self.values)


def advise(text: str) -> Remedy:
    """Return a remedy with free text."""
    return Remedy(RemedyKind.ADVICE, {"text": text})
