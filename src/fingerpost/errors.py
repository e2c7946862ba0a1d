"""Fingerpost's exception classes, and the remedies that they offer to callers.

``contract/envelope.py`` maps each class to its code in each contract. Messages and hints have no final period, unless a
contract prescribes one; ``as_sentence`` adds it. Remedies are worded for agents; ``apps/cli/output.py`` words them for
the command line, and ``apps/views/assets/strings.js`` for the web page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, unique
from typing import Any, Self


@unique
class RemedyKind(Enum):
    """The kinds of remedies, each with its sentence for agents; a remedy's values replace the names in braces."""

    # Text that suits both agents and people.
    ADVICE = "{text}"
    # The plan_trip contract's own hint.
    LOOSEN_LIMITS = "Try increasing maxWalkingDistance or adjusting departure time"
    LOOK_UP_PLACE = "Look the place up with findAddressOrStop, or give its position as lat,lon"
    LOOK_UP_STOP = "Look the stop up with findAddressOrStop or find_stops"
    SEARCH_NEARBY = "Check the spelling, or search around a coordinate with find_stops"
    SEARCH_FARTHER = "Increase maxDistanceMeters, or omit it"
    SAVE_PLACE = "Look the place up with findAddressOrStop and use its lat,lon, or save it with save_user_variable"
    SAVE_AGAIN = "Save it again with save_user_variable: a stop by its id, a place as a location with lat and lon"
    USE_CANDIDATE = "Choose a candidate and use its token as {field}"
    # Candidates in the lookup contract have no token; its tools accept the candidate itself (rule D2).
    SEND_CANDIDATE = "Send the intended candidate as {field}"
    CONFIRM_CANDIDATE = "If you mean {name}, use {token} as {field}; otherwise spell it differently"
    SEND_PARAMETER_VALUE = "Send the parameterValue of the intended place instead"
    # SET_KEY: a key from ``settings`` was refused. ADD_KEY: no key was sent.
    SET_KEY = "The operator must set another key for this source"
    ADD_KEY = "The operator must set a valid key for this source"
    START_FROM_RUN = "Start a new run with memory_of set to this run's id"
    END_A_RUN = "Wait for a run to end, or cancel a run: call run_plan with its run_id and action cancel"

    @property
    def code(self) -> str:
        """The kind's code for interfaces, such as ``look-up-place``."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True)
class Remedy:
    """A kind of remedy and its values."""

    kind: RemedyKind
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The advice for agents, without a final period."""
        return self.kind.value.format_map(self.values)


def advise(text: str) -> Remedy:
    """Return a remedy with free text."""
    return Remedy(RemedyKind.ADVICE, {"text": text})


def as_sentence(clause: str) -> str:
    """Add a final period to a message or hint, unless it already ends a sentence."""
    return clause if clause.endswith((".", "!", "?", "…")) else f"{clause}."


def list_first(texts: Sequence[str], limit: int) -> str:
    """Join the first ``limit`` texts, followed by the number of the others: ``a, b and 3 more``."""
    more = f" and {len(texts) - limit:,} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more


class ToolError(Exception):
    """Base class for all tool-related errors (plan-step contract).

    Attributes:
        message: one sentence for the caller.
        details: machine-readable details.
        remedy: what to do next, or None; a ``hint`` given as a string must suit both agents and people.
        retryable: whether the same call may succeed if it is repeated soon.
    """

    remedy: Remedy | None = None
    retryable: bool = False

    def __init__(
        self,
        message: str,
        details: dict[str, Any] | None = None,
        *,
        hint: str | Remedy | None = None,
        retryable: bool | None = None,
    ) -> None:
        self.message = message
        self.details = details or {}
        if hint is not None:
            self.remedy = advise(hint) if isinstance(hint, str) else hint
        if retryable is not None:
            self.retryable = retryable
        super().__init__(message)

    @property
    def hint(self) -> str | None:
        """The advice on what to do next, worded for agents."""
        return None if self.remedy is None else self.remedy.sentence

    @property
    def cause(self) -> str:
        """The name of the error's class, or of its nearest base class in this module."""
        return next(base.__name__ for base in type(self).__mro__ if base.__module__ == __name__)

    def user_message(self) -> str:
        """Return the message for a person."""
        return self.message

    def with_message(self, message: str, *, details: dict[str, Any] | None = None, hint: str | None = None) -> Self:
        """Return a copy with another message, and with the given details and hint unless they are None."""
        # copy.copy would call the constructors of subclasses, whose parameters differ.
        changed = type(self).__new__(type(self))
        changed.__dict__.update(self.__dict__)
        changed.message, changed.args = message, (message,)
        if details is not None:
            changed.details = details
        if hint is not None:
            changed.remedy = advise(hint)
        return changed


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A problem with one field: its JSON path, and the sentence for agents.

    ``predicate`` completes a sentence for people, which begins with the field's name in their interface. The
    predicate begins with a space or a colon, and is empty if ``sentence`` suits people too.
    """

    field: str
    sentence: str
    predicate: str = ""


class ParameterError(ToolError):
    """Error raised when tool parameters are invalid.

    ``details["field"]`` is the first invalid field, and ``details["errors"]`` lists the errors. ``problems`` lists the
    field problems that the message combines, if any.
    """

    def __init__(
        self,
        message: str,
        details: dict[str, Any] | None = None,
        *,
        hint: str | Remedy | None = None,
        problems: Sequence[FieldProblem] = (),
    ) -> None:
        self.problems = problems
        super().__init__(message, details, hint=hint)

    @classmethod
    def about(cls, field: str, predicate: str, *, hint: str | Remedy | None = None) -> Self:
        """Return an error about one field; its message begins with the field's path."""
        problem = FieldProblem(field, f"{field} {predicate}", f" {predicate}")
        return cls(problem.sentence, {"field": field}, hint=hint, problems=(problem,))

    def user_message(self) -> str:
        """Return the message with the field's name, if known."""
        if "field" in self.details:
            return f"The parameter '{self.details['field']}' is invalid: {self.message}"
        return f"Invalid parameter: {self.message}"


class PlaceUnknown(ParameterError):
    """A label, token or stop id is unknown to all networks."""


class TextUnknown(PlaceUnknown):
    """No place resembles the given text."""


class PlanInvalid(ParameterError):
    """A plan is invalid, or a run cannot be changed as requested.

    ``details["errors"]`` lists the problems of a plan: ``{step_id, field, reason}``.
    """


class QueryTypeUnsupported(ToolError):
    """Error raised when a query type is not supported by a tool."""

    def __init__(self, query_type: str, tool_name: str, supported_types: list[str] | None = None) -> None:
        self.query_type = query_type
        self.tool_name = tool_name
        self.supported_types = supported_types or []
        message = f"Query type '{query_type}' is not supported by the {tool_name} tool."
        if self.supported_types:
            message += f" Supported types are: {', '.join(self.supported_types)}"
        super().__init__(
            message, {"query_type": query_type, "tool_name": tool_name, "supported_types": self.supported_types}
        )


class ToolNotFound(ToolError, ValueError):
    """No tool with that name is registered."""

    def __init__(self, tool_name: str) -> None:
        super().__init__(f"Tool '{tool_name}' not found in registry", {"tool_name": tool_name})


class DataNotFound(ToolError, LookupError):
    """The query is valid, but no data matches."""


class NoItinerary(DataNotFound):
    """No trip meets the constraints."""

    remedy = Remedy(RemedyKind.LOOSEN_LIMITS)


class OutsideCalendar(DataNotFound):
    """The timetable does not cover the requested date.

    ``details`` has ``first_day`` and ``last_day`` (ISO dates) if they are known.
    """


def new_outside_calendar_error(owner: str, first: date | None, last: date | None) -> OutsideCalendar:
    """Return the error for a network or server; if the first and last day are known, the hint names them."""
    if first is None or last is None:
        return OutsideCalendar(f"The timetable of {owner} does not cover that day")
    days = {"first_day": str(first), "last_day": str(last)}
    return OutsideCalendar(
        f"The timetable of {owner} covers {first} to {last} only", days, hint=f"Choose a date from {first} to {last}"
    )


class PlaceAmbiguous(ToolError):
    """The given text matches several places.

    ``details["candidates"]`` lists them, best first, each with a ``token`` that every tool accepts.
    """


class RegionUnsupported(ToolError):
    """No network covers the place, no single network covers the whole trip, or the place's network cannot answer."""


class StorageUnavailable(ToolError):
    """A data source is unavailable; the class's name is from the plan-step contract."""

    retryable = True


class SourceTimeout(StorageUnavailable):
    """The source did not answer in time."""


class SourceLimited(StorageUnavailable):
    """A rate limit was reached, at the source or in fingerpost; retry after ``retry_after_s`` seconds."""

    def __init__(self, message: str, *, retry_after_s: float, hint: Remedy | None = None) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message, {"retry_after_s": retry_after_s}, hint=hint)


class SourceUnreachable(StorageUnavailable):
    """The source cannot be reached: DNS failed, or the connection was refused or reset."""


class SourceFailed(StorageUnavailable):
    """The source returned an error."""


class SourceKeyRefused(StorageUnavailable):
    """A key for the source is missing or refused."""

    remedy = Remedy(RemedyKind.ADD_KEY)
    retryable = False


class SourceChanged(ToolError):
    """The source's response has an unknown format."""


class FeedUnusable(ToolError):
    """A feed cannot be imported; the message gives the location and the reason."""


class SettingsInvalid(ToolError):
    """A setting, an environment variable or a stored file is invalid; the operator must correct it."""


class NotAccessible(SettingsInvalid):
    """A file or folder on this machine is not readable or not writable."""


def new_unwritable_error(path: object, error: OSError) -> NotAccessible:
    """Return an error with a hint for a file or folder that is not writable."""
    return NotAccessible(
        f"{path} is not writable ({error.strerror or error})",
        hint="Free space or correct its permissions, or set FINGERPOST_HOME to another folder",
    )


class BrokenContract(ToolError):
    """An answer does not match its contract, which is a bug."""
