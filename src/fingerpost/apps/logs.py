"""Log to stderr with secrets redacted; servers drop log lines if stderr is not read fast enough."""

import hashlib
import json
import logging
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from queue import Full, Queue
from typing import TextIO

from fingerpost.net.redaction import redact

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL)$", re.IGNORECASE)
# Shorter values may be part of ordinary words.
_MIN_SECRET_CHARS = 6
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"
_MAX_QUEUED_LINES = 2_000
_FLUSH_TIMEOUT_S = 1.0
# Lines about calls wait this long for others, because formatting and writing them delays running calls.
_BATCH_DELAY_S = 0.25


class _RedactingFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__(_FORMAT)
        # Cache the secrets, because listing them takes as long as a short call.
        self._secrets = _list_secrets()

    def format(self, record: logging.LogRecord) -> str:
        return redact_environment(super().format(record), self._secrets)


class _JsonFormatter(_RedactingFormatter):
    """Formats a record as one JSON object, with the fields from its ``call`` attribute."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            **getattr(record, "call", {}),
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        for name, value in fields.items():
            fields[name] = redact_environment(value, self._secrets) if isinstance(value, str) else value
        return json.dumps(fields, ensure_ascii=False)


def hash_caller(caller: str) -> str:
    return hashlib.sha256(caller.encode("utf-8", "surrogatepass")).hexdigest()[:12] if caller else ""


def redact_environment(text: str, secrets: Sequence[tuple[str, str]] | None = None) -> str:
    """Replace the values of environment variables whose names suggest a secret."""
    for name, value in _list_secrets() if secrets is None else secrets:
        text = redact(text, [value], f"[{name}]")
    return text


def _list_secrets() -> list[tuple[str, str]]:
    secrets = [
        (name, value)
        for name, value in os.environ.items()
        if len(value) >= _MIN_SECRET_CHARS and _SECRET_NAME.search(name)
    ]
    # Longest first, because redacting a shorter secret inside a longer one would leave the rest of it in the log.
    return sorted(secrets, key=lambda secret: -len(secret[1]))


def start_logging(*, can_block: bool = True, as_json: bool = False) -> None:
    """Send the process's log to stderr; if ``can_block`` is false, drop lines when stderr is not read fast enough."""
    handler = logging.StreamHandler(sys.stderr) if can_block else DroppingHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if as_json else _RedactingFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("fingerpost").setLevel(logging.INFO)


def end_after_logging(number: int, _frame: object) -> None:
    """Handle a signal: write all log lines, and then let the signal end the process."""
    logging.shutdown()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


class DroppingHandler(logging.Handler):
    """Passes records to a thread that writes them; records that do not fit in the queue are dropped and counted."""

    def __init__(self, stream: TextIO, *, max_lines: int = _MAX_QUEUED_LINES) -> None:
        super().__init__()
        self.queue = Queue[logging.LogRecord](max_lines)
        self._dropped = 0
        self._is_urgent = threading.Event()
        threading.Thread(target=self._write_lines, args=(stream,), name="fingerpost-log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if self._dropped:
                message = f"{self._dropped} log lines were dropped because standard error was not being read"
                self.queue.put_nowait(logging.LogRecord(__name__, logging.WARNING, "", 0, message, (), None))
                self._dropped = 0
            self.queue.put_nowait(record)
            is_call = record.levelno == logging.INFO and hasattr(record, "call")
            if not is_call or self.queue.qsize() > self.queue.maxsize / 2:
                self._is_urgent.set()
        except Full:
            self._dropped += 1

    def _write_lines(self, stream: TextIO) -> None:
        while True:
            records = [self.queue.get()]
            self._is_urgent.wait(_BATCH_DELAY_S)
            self._is_urgent.clear()
            records += [self.queue.get() for _ in range(self.queue.qsize())]
            for record in records:
                # Write line by line, because workers share stderr, and only short writes stay in one piece.
                try:
                    stream.write(f"{self.format(record)}\n")
                    stream.flush()
                except (OSError, ValueError):
                    self._dropped += 1
                except Exception:  # noqa: BLE001  (a record must not end the thread)
                    self.handleError(record)
                self.queue.task_done()

    def flush(self) -> None:
        """Wait up to a second for all lines to be written; a signal handler may call this, so it takes no lock."""
        end = time.monotonic() + _FLUSH_TIMEOUT_S
        while self.queue.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.005)
