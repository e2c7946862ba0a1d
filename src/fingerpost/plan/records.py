"""Records of plan runs as stored in journals, and reading and writing plans as JSON."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, NotRequired

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from fingerpost import clock
from fingerpost.contract.check import explain
from fingerpost.contract.plan import Plan
from fingerpost.contract.wire import WireDict
from fingerpost.errors import PlanInvalid, StorageUnavailable
from fingerpost.plan.limits import Limits, encode, find_excess

PROTOCOL: Final = 1
"""The record format's version; it increases when the meaning of a record changes (design section 8)."""

RunState = Literal["running", "waiting", "completed", "failed", "cancelled"]
ReportedState = Literal[RunState, "interrupted"]
StepState = Literal["completed", "skipped", "failed", "waiting"]
Verb = Literal["cancel", "approve", "reject"]

ENDED: Final = ("completed", "failed", "cancelled")


class JournalFailed(StorageUnavailable):
    """A write to the journal failed, so the run stops at its last record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialMemory:
    """Initial memory of a run: responses or plain values by key, and the path to the value in each response."""

    values: Mapping[str, Any] = field(default_factory=dict)
    paths: Mapping[str, list[str]] = field(default_factory=dict)


class StepRecord(NamedTuple):
    """``output`` is the response as JSON text, and ``note`` is the reason for the state."""

    step_id: int
    state: StepState
    output: str | None
    note: str | None
    attempts: int
    at: str


class Event(NamedTuple):
    """One event of a run, numbered in sequence; ``data`` is JSON text."""

    seq: int
    at: str
    kind: str
    step_id: int | None
    data: str | None


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal to a run (cancel, approve, reject); ``value`` is any JSON value."""

    seq: int
    verb: Verb
    step_id: int | None
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """``plan_json`` is the current plan, ``replans`` the number of plan changes, and ``signals`` all signals so far."""

    run_id: str
    user: str | None
    plan_json: str
    initial_memory: InitialMemory
    state: RunState
    created_at: str
    ended_at: str | None
    protocol: int
    replans: int
    steps: Mapping[int, StepRecord]
    last_seq: int
    signals: Sequence[Signal]

    @property
    def finished(self) -> frozenset[int]:
        """The steps that will not run again."""
        return frozenset(number for number, step in self.steps.items() if step.state in ("completed", "skipped"))


class RunSummary(WireDict):
    """A run in a list; its ``state`` may be one that only a newer version knows."""

    run_id: str
    state: str
    goal: str
    created_at: str
    ended_at: NotRequired[str]
    completed: int
    total: int


ExecuteRun = Callable[[str], Awaitable[RunState]]
"""Executes a run by its id in this process until it ends or waits, and returns its state."""


def read_plan(raw: object, limits: Limits | None = None) -> Plan:
    """Parse a plan from decoded JSON after a size check, or raise PlanInvalid.

    ``created_at`` defaults to the current time.
    """
    limits = limits or Limits()
    if not isinstance(raw, Mapping):
        raise PlanInvalid("The plan must be an object with a goal and steps", {"field": "plan"})
    steps = raw.get("steps")
    if isinstance(steps, list) and len(steps) > limits.steps:
        raise PlanInvalid(f"The plan has {len(steps):,} steps; the limit is {limits.steps:,}", {"field": "plan"})
    # Allow a few more levels, because the depth limit applies to parameters, which the plan encloses.
    if excess := find_excess(dict(raw), max_bytes=limits.plan_bytes, max_depth=limits.depth + 4):
        raise PlanInvalid(f"The plan cannot be read: a value in it {excess}", {"field": "plan"})
    has_date = raw.get("created_at") is not None
    return _validate(dict(raw) if has_date else {**raw, "created_at": now()}, "The plan")


def _validate(raw: object, subject: str) -> Plan:
    try:
        return Plan.model_validate(raw)
    except ValidationError as error:
        explained = explain(error, Plan)
        raise PlanInvalid(f"{subject} cannot be read: {explained.message}", explained.details) from error


class WrittenPlan(NamedTuple):
    """A plan as JSON text; its goal, as JSON, and its step count are for lists of runs."""

    text: str
    goal: str
    step_count: int


def write_plan(plan: Plan) -> WrittenPlan:
    try:
        text = plan.model_dump_json()
    except PydanticSerializationError:
        # An unpaired surrogate has no UTF-8 encoding, so write it as an escape.
        text = encode(plan.model_dump())
    return WrittenPlan(text, encode_text(plan.goal), len(plan.steps))


def encode_text(text: str) -> str:
    """Encode a string as JSON, because it may contain NUL; an unpaired surrogate becomes ``?``."""
    return json.dumps(text.encode("utf-8", "replace").decode())


def read_recorded_plan(run: RunRecord) -> Plan:
    """Return a run's stored plan, or raise PlanInvalid if this build cannot read it."""
    # Pydantic's JSON parser rejects unpaired surrogates, which the plan may contain.
    return _validate(json.loads(run.plan_json), f"The plan of run {run.run_id}")


def now() -> str:
    return clock.now().isoformat().replace("+00:00", "Z")


def check_protocol(run: RunRecord) -> None:
    if run.protocol > PROTOCOL:
        raise PlanInvalid("The run was started by a newer fingerpost; update fingerpost to read or resume it")


def parse_plan(text: bytes, limits: Limits) -> Plan:
    if len(text) > limits.plan_bytes:
        raise PlanInvalid(f"The plan is larger than {limits.plan_bytes:,} bytes")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise PlanInvalid(f"The plan is not JSON: {reason}") from error
    return read_plan(raw, limits)
