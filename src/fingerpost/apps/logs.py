"""Logging to stderr, with the operator's keys redacted."""

import logging
import os
import re
import sys
import time
from functools import lru_cache

from fingerpost.apps.log_writer import LogWriter

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL)$", re.IGNORECASE)
# A value as short as this would be found in innocent words.
_SHORTEST_SECRET = 6
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


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
