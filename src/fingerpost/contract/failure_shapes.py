"""JSON shapes of failed calls: one error envelope for each contract (rule A5).

Each tool's output schema includes its contract's failure shapes, because clients also validate errors against
``outputSchema``.
"""

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, with_config

from fingerpost.contract.envelope import Contract
from fingerpost.contract.wire import Number, Shape, Wire, WireDict


class FailureCoordinate(WireDict):
    """A WGS84 position."""

    lat: Number
    lon: Number


@with_config(ConfigDict(extra="allow", strict=True))
class LookupCandidate(WireDict):
    """A candidate that planRoute accepts as an origin or destination."""

    name: NotRequired[str]
    type: NotRequired[str]
    coordinate: NotRequired[FailureCoordinate]
    confidenceScore: NotRequired[Number]
    locality: NotRequired[str]


class FailureCandidate(LookupCandidate):
    """A candidate with a token that every tool accepts."""

    token: str


class _FailureDetail(WireDict):
    code: str
    message: str
    hint: NotRequired[str]
    correlationId: str
    retryAfter: NotRequired[int]
    candidates: NotRequired[list[FailureCandidate]]


class FailureBody(WireDict):
    """A failure from plan_trip, or from the tools for boards, stops and variables."""

    error: _FailureDetail


@with_config(ConfigDict(extra="allow", strict=True))
class _LookupDetails(WireDict):
    side: NotRequired[str]
    field: NotRequired[str]
    candidates: NotRequired[list[LookupCandidate]]
    retryAfter: NotRequired[int | None]


LookupCategory = Literal[
    "VALIDATION",
    "NOT_FOUND",
    "DISAMBIGUATION_REQUIRED",
    "NO_RESULTS",
    "THROTTLED",
    "UPSTREAM_FAILURE",
    "AUTH_FAILURE",
    "INTERNAL",
]


class _LookupFailureDetail(WireDict):
    category: LookupCategory
    code: str
    message: str
    details: NotRequired[_LookupDetails]
    recommendation: NotRequired[str]


class LookupFailureBody(WireDict):
    """A failure in the lookup contract."""

    error: _LookupFailureDetail


@with_config(ConfigDict(extra="allow", strict=True))
class StepFailureBody(WireDict):
    """A failure in the plan-step contract's standard response; its message is in ``error`` or ``warning``."""

    query_type: str
    parameters: Wire
    results: list[Any]
    output_key: str
    success: Literal[False]
    error: NotRequired[str]
    warning: NotRequired[str]
    error_code: NotRequired[str | None]
    hint: NotRequired[str | None]
    retryable: NotRequired[bool | None]
    retry_after: NotRequired[int | None]
    candidates: NotRequired[list[FailureCandidate] | None]


FAILURE_SHAPES: dict[Contract, tuple[Shape, ...]] = {
    Contract.PLAN_TRIP: (FailureBody,),
    Contract.BOARD: (FailureBody,),
    Contract.LOOKUP: (LookupFailureBody,),
    Contract.STEP: (StepFailureBody,),
    # A planJourney answer can itself report a failure, so no failure shape is needed.
    Contract.LONDON: (),
}
