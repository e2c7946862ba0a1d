"""Limits of plans and runs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of plans and runs: sizes, concurrency, times and retries.

    Attributes:
        steps: of one plan.
        plan_bytes: of a plan, its given memory included, as JSON.
        depth: how deeply a plan's or an output's objects and lists may nest.
        output_bytes: of one step's output, as JSON.
        memory_bytes: of all outputs of one run together.
        given_bytes: of the memory that a run takes from an earlier one.
        steps_at_once: of one run.
        calls_per_tool: of all runs in this process together.
        attempt_s: how long one attempt of a step may take.
        attempts: of one step, the first included.
        backoff_s: the wait before the second attempt; it doubles from then on.
        longest_backoff_s: no wait is longer; a source that asks for more fails the step.
        breaker_failures: failures in a row of one tool after which it is left alone.
        breaker_s: for how long it is left alone.
        replans: how often the unfinished part of one run may be planned anew.
        runs_of_user: how many runs of one user a process carries on in the background; one more is refused.
    """

    steps: int = 500
    plan_bytes: int = 1_000_000
    depth: int = 32
    output_bytes: int = 1_000_000
    memory_bytes: int = 64_000_000
    given_bytes: int = 8_000_000
    steps_at_once: int = 64
    calls_per_tool: int = 64
    attempt_s: float = 60.0
    attempts: int = 3
    backoff_s: float = 0.2
    longest_backoff_s: float = 10.0
    breaker_failures: int = 5
    breaker_s: float = 30.0
    replans: int = 3
    runs_of_user: int = 100
