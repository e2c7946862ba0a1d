"""What is kept of a run, and the port to whoever keeps it.

A step that is recorded as completed or skipped never runs again; that is all a journal has to promise.
"""

from collections.abc import Awaitable, Mapping, Sequence
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
    """What happened could not be written down: the run stops where its record ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The memory that a run starts from: whole responses or plain values by key, and where each one's value stands."""

    values: Mapping[str, Any] = field(default_factory=dict)
    paths: Mapping[str, list[str]] = field(default_factory=dict)


class StepRecord(NamedTuple):
    """What is known of one step. ``output`` is the JSON text of the whole response, ``note`` why it stands so."""

    step_id: int
    state: StepState
    output: str | None
    note: str | None
    attempts: int
    at: str


class Event(NamedTuple):
    """One thing that happened, in order; ``data`` is JSON text."""

    seq: int
    at: str
    kind: str
    step_id: int | None
    data: str | None


@dataclass(frozen=True, slots=True)
class Signal:
    """What somebody wants of a run; ``value`` is any JSON value."""

    seq: int
    verb: Verb
    step_id: int | None
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """All of a run. ``plan_json`` is the plan as it is carried out, ``replans`` how often it was changed."""

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


class Journal(Protocol):
    """Keeps runs. Every method may raise StorageUnavailable, or SettingsInvalid where the operator must act."""

    async def create(
        self,
        base_id: str | None,
        user: str | None,
        plan_json: str,
        goal: str,
        steps: int,
        given: Given,
        at: str,
        protocol: int,
    ) -> str:
        """Keep a new run and return its id: random, or the base with a counter where one is given."""

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a run, or None."""

    async def is_untouched(self, run_id: str) -> bool:
        """Whether nothing at all has happened to a run since it was created."""

    async def list_runs(self, user: str | None, limit: int) -> list[RunLine]:
        """Return a user's newest runs."""

    async def list_events(self, run_id: str, after: int, limit: int) -> list[Event]:
        """Return what happened after an event, in order."""

    def record(
        self, run_id: str, step: StepRecord | None, events: Sequence[Event], state: RunState | None, at: str
    ) -> Awaitable[None]:
        """Write down what happened, all of it or nothing; the result is there when it will survive a crash."""

    def append_event(self, run_id: str, event: Event) -> None:
        """Write down what need not be waited for."""

    async def change_plan(self, run_id: str, plan_json: str, goal: str, forget: Sequence[int], event: Event) -> None:
        """Replace a run's plan, count it, and forget what was recorded of some unfinished steps."""

    async def signal(self, run_id: str, verb: Verb, step_id: int | None, value: Any) -> None:
        """Tell whoever carries a run on, now or later."""

    async def list_signals(self, run_id: str, after: int) -> list[Signal]:
        """Return what a run has been told, in order."""

    def hold(self, run_id: str) -> AbstractAsyncContextManager[bool]:
        """Carry a run on alone; False where another process or task does so already."""

    def is_held(self, run_id: str) -> bool:
        """Whether anybody carries the run on at this moment."""

    def close(self) -> None:
        """Let go of what is open; what was recorded stays."""

    async def forget_before(self, at: str) -> int:
        """Remove runs that ended before an instant, and return how many."""
