"""Logging to stderr, with the operator's keys redacted, and never waiting for a reader in a server."""

import logging
import os
import queue
import re
import sys
import threading
import time
from functools import lru_cache
from typing import TextIO

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL)$", re.IGNORECASE)
# A value as short as this would be found in innocent words.
_SHORTEST_SECRET = 6
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"
_WAITING_LINES = 2_000
_FLUSH_S = 1.0
# To wake the thread for each line was measured to cost a short call an eighth of its time.
_GATHERING_S = 0.02


class _Redacting(logging.Formatter):
    def __init__(self) -> None:
        super().__init__(_FORMAT)
        # Looking through the environment for every line was measured to cost as much as a small answer.
        self._secrets = _list_secrets()

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802  (logging's)
        return f"{_second(int(record.created))},{int(record.msecs):03d}"

    def format(self, record: logging.LogRecord) -> str:
        return _without(super().format(record), self._secrets)


# Telling the time was measured to cost half of a line, and many lines share a second.
@lru_cache(maxsize=2)
def _second(instant: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(instant))


def redact(text: str) -> str:
    """Return the text without any value of an environment variable that is named like a secret."""
    return _without(text, _list_secrets())


def _list_secrets() -> list[tuple[str, str]]:
    return [
        (name, value)
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name)
    ]


def _without(text: str, secrets: list[tuple[str, str]]) -> str:
    for name, value in secrets:
        text = text.replace(value, f"[{name}]")
    return text


def start_logging(*, may_wait: bool = True) -> None:
    """Send the process's log to stderr: stdout belongs to answers and to the protocol.

    A server, whose client may never read it, does not wait for its reader.
    """
    handler = logging.StreamHandler(sys.stderr) if may_wait else LogWriter(sys.stderr)
    handler.setFormatter(_Redacting())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("fingerpost").setLevel(logging.INFO)


class LogWriter(logging.Handler):
    """Writes lines in a thread of its own: a client may open standard error and never read it.

    Lines that find no room are dropped, and their number is written. At the end of the process ``flush`` writes for a
    second at most.
    """

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
        """Wait until all is written, for a second at most."""
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
        # A reader that is gone is no reason to stop: what waits must not fill the memory.
        self.acquire()
        dropped, self._dropped = self._dropped, 0
        self.release()
        note = f"{dropped} lines of the log were dropped: standard error was not read\n" if dropped else ""
        try:
            self._stream.write(f"{line}\n{note}")
            self._stream.flush()
        except (OSError, ValueError):
            pass
