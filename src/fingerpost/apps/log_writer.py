"""A log that never waits for its reader: a client may keep standard error and never read it."""

import logging
import queue
import threading
import time
from typing import TextIO

WAITING_LINES = 2_000
_LAST_WORDS_S = 1.0


class LogWriter(logging.Handler):
    """Writes lines in a thread of its own; lines that find no room are dropped, and their number is written.

    Whoever logs never waits. At the end of the process what waits is written for a second at most.
    """

    def __init__(self, stream: TextIO, *, waiting_lines: int = WAITING_LINES) -> None:
        super().__init__()
        self._stream = stream
        self._lines: queue.Queue[str] = queue.Queue(waiting_lines)
        self._dropped = 0
        threading.Thread(target=self._write_lines, name="fingerpost-log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record's line."""
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._dropped += 1
        except Exception:  # noqa: BLE001  (logging's own way: a line that cannot be formatted fails no call)
            self.handleError(record)

    def flush(self) -> None:
        """Wait until all is written, for a second at most."""
        end = time.monotonic() + _LAST_WORDS_S
        while self._lines.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.005)

    def _write_lines(self) -> None:
        while True:
            line = self._lines.get()
            # A reader that is gone is no reason to stop: what waits must not fill the memory.
            try:
                self._stream.write(f"{line}\n{self._say_dropped()}")
                self._stream.flush()
            except (OSError, ValueError):
                pass
            self._lines.task_done()

    def _say_dropped(self) -> str:
        # Emitting holds the handler's lock, and so does this.
        with self.lock or threading.RLock():
            dropped, self._dropped = self._dropped, 0
        return f"{dropped} lines of the log were dropped: standard error was not read\n" if dropped else ""
