"""What a command reads from stdin."""

import sys

from fingerpost.apps.cli.waiting import screen_taken


def read_stdin() -> bytes:
    """Return all of stdin; where a person types it, nothing else is drawn meanwhile."""
    with screen_taken():
        return sys.stdin.buffer.read()
