"""Records of plan runs, and the port of the engines that store them.

A step that is recorded as completed or skipped never runs again; that is all a journal has to promise.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol

from fingerpost.errors import StorageUnavailable

PROTOCOL: Final = 1
"""Counts up when the meaning of what is recorded changes; versions of fingerpost do not matter (design section 8)."""

RunState = Literal["running", "waiting", "completed", "failed", "cancelled"]
StepState = Literal["completed", "skipped", "failed", "waiting"]
Verb = Literal["cancel", "approve", "reject"]

ENDED: Final = ("completed", "failed", "cancelled")


class JournalFailed(StorageUnavailable):
    """A write to the journal failed; the run stops where its record ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The memory that a run starts from: whole responses or plain values by key, and where each one's value stands."""

    values: Mapping[str, Any] = field(default_factory=dict)
    paths: Mapping[str, list[str]] = field(default_factory=dict)


class StepRecord(NamedTuple):
    """The record of one step. ``output`` is the JSON text of the whole response, ``note`` the reason for its state."""

    step_id: int
    state: StepState
    output: str | None
    note: str | None
    attempts: int
    at: str


class Event(NamedTuple):
    """One event of a run, numbered in order; ``data`` is JSON text."""

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
    """The record of a run. ``plan_json`` is the current plan, ``replans`` how often it was changed."""

    run_id: str
    user: str | None
    plan_json: str
    given: Given
    state: RunState
    created_at: str
    ended_at: str | None
    protocol: int
    replans: int
    steps: Mapping[int, StepRecord]
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run to be kept: whose it is, its plan as JSON, the memory that it starts from, and when it was made.

    Attributes:
        base_id: what its id is counted from, under a fixed clock; None for a random id.
        goal: the plan's, for lists.
        steps: how many the plan has.
        at: the instant, in ISO 8601.
    """

    base_id: str | None = None
    user: str | None
    plan_json: str
    goal: str
    steps: int
    given: Given = field(default_factory=Given)
    at: str
    protocol: int = PROTOCOL

    def record_as(self, run_id: str) -> RunRecord:
        """Return the record of this run before anything has happened to it."""
        return RunRecord(
            run_id=run_id,
            user=self.user,
            plan_json=self.plan_json,
            given=self.given,
            state="running",
            created_at=self.at,
            ended_at=None,
            protocol=self.protocol,
            replans=0,
            steps={},
            last_seq=0,
        )


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in a list."""

    run_id: str
    state: RunState
    goal: str
    created_at: str
    ended_at: str | None
    steps: int
    settled: int


CarryOn = Callable[[str], Awaitable[RunState]]
"""Executes the run of an id in this process until it ends or waits, and returns its state."""


class Journal(Protocol):
    """Stores runs. Every method may raise StorageUnavailable, or SettingsInvalid where the operator must act."""

    async def create(self, run: NewRun) -> str:
        """Keep a new run and return its id: random, or the base with a counter where one is given."""

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a run, or None."""

    async def is_untouched(self, run_id: str) -> bool:
        """Whether a run has no step, event, signal or state since its creation."""

    async def list_runs(self, user: str | None, limit: int) -> list[RunLine]:
        """Return a user's newest runs."""

    async def list_events(self, run_id: str, after: int, limit: int) -> list[Event]:
        """Return what happened after an event, in order."""

    def record(
        self, run_id: str, step: StepRecord | None, events: Sequence[Event], state: RunState | None, at: str
    ) -> Awaitable[None]:
        """Record a step, events and a state atomically; the returned awaitable is done once they are durable."""

    def append_event(self, run_id: str, event: Event) -> None:
        """Append an event that need not be durable yet; a crash may lose it."""

    async def change_plan(self, run_id: str, plan_json: str, goal: str, forget: Sequence[int], event: Event) -> None:
        """Replace a run's plan, count the change, and delete the records of some unfinished steps."""

    async def signal(self, run_id: str, verb: Verb, step_id: int | None, value: Any) -> None:
        """Store a signal for the process that executes the run, now or later."""

    async def list_signals(self, run_id: str, after: int) -> list[Signal]:
        """Return a run's signals after a number, in order."""

    def hold(self, run_id: str) -> AbstractAsyncContextManager[bool]:
        """Lock a run for execution; False where another process or task holds it."""

    async def is_held(self, run_id: str) -> bool:
        """Whether the run is locked for execution at this moment."""

    def attach(self, carry_on: CarryOn) -> None:
        """Store the function that executes runs that the engine recovers."""

    async def launch(self) -> None:
        """Start the engine ahead of its first run."""

    def recovering(self) -> AbstractAsyncContextManager[None]:
        """Recover the runs of dead processes during the block, if several processes share the engine."""

    async def carry_out(self, run_id: str, carry_on: CarryOn) -> RunState:
        """Execute a run by a function, under whatever the engine spreads and recovers executions with."""

    def close(self) -> None:
        """Close the journal; records stay."""

    async def forget_before(self, at: str) -> int:
        """Remove runs that ended before an instant, and return how many."""
