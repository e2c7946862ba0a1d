"""Records of plan runs, as journals store them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from fingerpost.errors import StorageUnavailable

PROTOCOL: Final = 1
"""The record format's version; it increases when the meaning of a record changes (design section 8)."""

RunState = Literal["running", "waiting", "completed", "failed", "cancelled"]
StepState = Literal["completed", "skipped", "failed", "waiting"]
Verb = Literal["cancel", "approve", "reject"]

ENDED: Final = ("completed", "failed", "cancelled")


class JournalFailed(StorageUnavailable):
    """A write to the journal failed, so the run stops at its last record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialMemory:
    """The initial memory of a run: responses or plain values by key, and each value's path."""

    values: Mapping[str, Any] = field(default_factory=dict)
    paths: Mapping[str, list[str]] = field(default_factory=dict)


class StepRecord(NamedTuple):
    """The record of one step. ``output`` is the response as JSON text, ``note`` the reason for the state."""

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
    """The record of a run. ``plan_json`` is the current plan, ``replans`` the number of changes."""

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

    @property
    def finished(self) -> frozenset[int]:
        """The steps that never run again."""
        return frozenset(number for number, step in self.steps.items() if step.state in ("completed", "skipped"))


@dataclass(frozen=True, slots=True)
class RunSummary:
    run_id: str
    state: RunState
    goal: str
    created_at: str
    ended_at: str | None
    total: int
    completed: int


ExecuteRun = Callable[[str], Awaitable[RunState]]
"""Executes a run by its id in this process until it ends or waits, and returns its state."""
