"""The current attempt of a plan step, with its idempotency key."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a step.

    ``idempotency_key`` is the same for every attempt of one step of one run, before and after a crash:
    a tool that hands it on to its source lets that source refuse to do a thing twice.
    ``number`` counts from 1 since the step was last begun.
    """

    idempotency_key: str
    number: int


_CURRENT: ContextVar[Attempt | None] = ContextVar("fingerpost_attempt", default=None)


def find_attempt() -> Attempt | None:
    """Return the attempt that the running code is part of; None outside plans."""
    return _CURRENT.get()


def begin_attempt(attempt: Attempt) -> None:
    """Make an attempt the current one of this task, until the next one begins."""
    _CURRENT.set(attempt)
