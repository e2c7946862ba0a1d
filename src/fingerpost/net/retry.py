"""How often a question is asked again, and after what wait."""

from collections.abc import AsyncIterator, Callable

import stamina

from fingerpost.errors import SourceLimited, ToolError

WAIT_INITIAL_S = 0.2
WAIT_MAX_S = 5.0
WAIT_JITTER_S = 0.5


def list_attempts(attempts: int, *, left_s: Callable[[], float], waits: bool = True) -> AsyncIterator[stamina.Attempt]:
    """Yield attempts, with exponential backoff and jitter between them.

    What a source asks us to wait (Retry-After) is waited at the limiter, which keeps it for every process; here it
    only decides whether there is time for another attempt. ``left_s`` says how much is left.
    Without ``waits`` they follow at once.
    """
    return stamina.retry_context(
        on=lambda error: may_pass(error, left_s()),
        attempts=attempts,
        timeout=None,
        wait_initial=WAIT_INITIAL_S if waits else 0.0,
        wait_max=WAIT_MAX_S if waits else 0.0,
        wait_jitter=WAIT_JITTER_S if waits else 0.0,
    )


def may_pass(error: Exception, left_s: float) -> bool:
    """Return whether the same question may fare better in a moment, within the time that is left."""
    if isinstance(error, SourceLimited):
        return error.retry_after_s < left_s
    return isinstance(error, ToolError) and error.retryable
