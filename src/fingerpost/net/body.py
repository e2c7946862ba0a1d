"""Sinks for response content."""

from typing import Protocol


class Body(Protocol):
    """A sink for response content; ``restart`` discards what was written, for a new attempt."""

    def restart(self) -> None:
        """Forget everything that was written."""
        ...

    def write(self, piece: bytes) -> None:
        """Take another piece."""
        ...


class MemoryBody:
    """Content kept in memory."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def restart(self) -> None:
        """Forget everything that was written."""
        self._pieces.clear()

    def write(self, piece: bytes) -> None:
        """Take another piece."""
        self._pieces.append(piece)

    def content(self) -> bytes:
        """Return all of it."""
        return b"".join(self._pieces)
