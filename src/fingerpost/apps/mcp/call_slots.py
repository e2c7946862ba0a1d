"""How many calls one process answers at a time: one more is refused at once, and told when to come again."""

from collections.abc import Iterator
from contextlib import contextmanager

from fingerpost.errors import SourceLimited

# By then most calls that run now have ended.
_RETRY_AFTER_S = 1.0


class CallSlots:
    """The calls of one process that run, at most ``most`` at a time. For one event loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running = 0

    @contextmanager
    def take(self) -> Iterator[None]:
        """Count a call as running for the length of a block.

        Raises:
            SourceLimited: as many run as may.
        """
        if self._running >= self._most:
            message = f"The server is full: as many calls run as it answers at a time ({self._most})"
            raise SourceLimited(message, retry_after_s=_RETRY_AFTER_S)
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
