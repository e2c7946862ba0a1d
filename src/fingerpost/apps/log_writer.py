"""A log that never waits for its reader: a client may keep standard error and never read it."""

import logging
import threading
import time
from collections import deque
from typing import TextIO

WAITING_LINES = 2_000
_LAST_WORDS_S = 1.0
# To wake a thread for each line was measured to cost a short call an eighth of its time.
_GATHERING_S = 0.02


class LogWriter(logging.Handler):
    """Writes lines in a thread of its own; lines that find no room are dropped, and their number is written.

    Whoever logs never waits. Lines that come close together are written together, ``_GATHERING_S`` later at most.
    At the end of the process what waits is written for a second at most.
    """

    def __init__(self, stream: TextIO, *, waiting_lines: int = WAITING_LINES) -> None:
        super().__init__()
        self._stream = stream
        self._most_lines = waiting_lines
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._is_awake = False
        self._wake = threading.Event()
        self._is_flushing = threading.Event()
        threading.Thread(target=self._write_lines, name="fingerpost-log", daemon=True).start()

    @property
    def is_idle(self) -> bool:
        """Whether all that was taken has been written, or its reader was gone."""
        return not self._is_awake

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record's line; ``handle`` holds the lock."""
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001  (logging's own way: a line that cannot be formatted fails no call)
            self.handleError(record)
            return
        if len(self._lines) >= self._most_lines:
            self._dropped += 1
            return
        self._lines.append(line)
        if not self._is_awake:
            self._is_awake = True
            self._wake.set()

    def flush(self) -> None:
        """Wait until all is written, for a second at most."""
        end = time.monotonic() + _LAST_WORDS_S
        self._is_flushing.set()
        while not self.is_idle and time.monotonic() < end:
            time.sleep(0.005)
        self._is_flushing.clear()

    def _write_lines(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            while not self._rests():
                while self._lines:
                    self._write(self._lines.popleft())
                self._is_flushing.wait(_GATHERING_S)

    def _rests(self) -> bool:
        """Whether nothing waits, so that whoever comes next has to wake the thread."""
        with self.lock or threading.RLock():
            self._is_awake = bool(self._lines)
        return not self._is_awake

    def _write(self, line: str) -> None:
        # A reader that is gone is no reason to stop: what waits must not fill the memory.
        try:
            self._stream.write(f"{line}\n{self._say_dropped()}")
            self._stream.flush()
        except (OSError, ValueError):
            pass

    def _say_dropped(self) -> str:
        # Emitting holds the handler's lock, and so does this.
        with self.lock or threading.RLock():
            dropped, self._dropped = self._dropped, 0
        return f"{dropped} lines of the log were dropped: standard error was not read\n" if dropped else ""
