"""Where an answer's content goes while it arrives."""

from typing import Protocol


class Body(Protocol):
    """Takes content piece by piece; ``restart`` forgets what came before, because a new attempt begins."""

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
