"""What the process says about itself: to stderr, without the operator's keys."""

import logging
import os
import re
import sys

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL)$", re.IGNORECASE)
# A value as short as this would be found in innocent words.
_SHORTEST_SECRET = 6
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


class _Redacting(logging.Formatter):
    def __init__(self) -> None:
        super().__init__(_FORMAT)
        # Looking through the environment for every line was measured to cost as much as a small answer.
        self._secrets = _list_secrets()

    def format(self, record: logging.LogRecord) -> str:
        return _without(super().format(record), self._secrets)


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


def start_logging() -> None:
    """Send the process's log to stderr: stdout belongs to answers and to the protocol."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Redacting())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("fingerpost").setLevel(logging.INFO)
