"""Log to stderr with keys redacted; a server drops lines rather than wait for a reader."""

import logging
import os
import queue
import re
import sys
import threading
import time
from typing import TextIO

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL)$", re.IGNORECASE)
# Shorter values occur in ordinary words.
_MIN_SECRET = 6
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"
_WAITING_LINES = 2_000
_FLUSH_S = 1.0
# Waking the thread for each line takes an eighth of the time of a short call.
_GATHERING_S = 0.02


class _Redacting(logging.Formatter):
    def __init__(self) -> None:
        super().__init__(_FORMAT)
        # Listing them for each line would take as long as a small answer.
        self._secrets = _list_secrets()

    def format(self, record: logging.LogRecord) -> str:
        return _without(super().format(record), self._secrets)


def redact(text: str) -> str:
    """Return the text without any value of an environment variable that is named like a secret."""
    return _without(text, _list_secrets())


def _list_secrets() -> list[tuple[str, str]]:
    return [
        (name, value) for name, value in os.environ.items() if len(value) >= _MIN_SECRET and _SECRET_NAME.search(name)
    ]


def _without(text: str, secrets: list[tuple[str, str]]) -> str:
    for name, value in secrets:
        text = text.replace(value, f"[{name}]")
    return text


def start_logging(*, may_wait: bool = True) -> None:
    """Send the process's log to stderr; with ``may_wait`` false, a client that never reads it blocks nothing."""
    handler = logging.StreamHandler(sys.stderr) if may_wait else LogWriter(sys.stderr)
    handler.setFormatter(_Redacting())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("fingerpost").setLevel(logging.INFO)


class LogWriter(logging.Handler):
    """Writes lines in a thread; lines that exceed the queue are dropped and counted."""

    def __init__(self, stream: TextIO, *, waiting_lines: int = _WAITING_LINES) -> None:
        super().__init__()
        self._stream = stream
        self._lines: queue.Queue[str] = queue.Queue(waiting_lines)
        self._dropped = 0
        threading.Thread(target=self._write_lines, name="fingerpost-log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._dropped += 1
        except Exception:  # noqa: BLE001  (logging's own way: a line that cannot be formatted fails no call)
            self.handleError(record)

    def flush(self) -> None:
        """Wait up to a second until all lines are written."""
        end = time.monotonic() + _FLUSH_S
        while self._lines.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.005)

    def _write_lines(self) -> None:
        while True:
            self._write(self._lines.get())
            self._lines.task_done()
            if self._lines.empty():
                time.sleep(_GATHERING_S)

    def _write(self, line: str) -> None:
        # Without a reader, the queue must still be emptied.
        self.acquire()
        dropped, self._dropped = self._dropped, 0
        self.release()
        note = f"{dropped} lines of the log were dropped: standard error was not read\n" if dropped else ""
        try:
            self._stream.write(f"{line}\n{note}")
            self._stream.flush()
        except (OSError, ValueError):
            pass
