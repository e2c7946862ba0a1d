"""The log never waits for its reader, and reports the lines that it dropped."""

import io
import json
import logging
import os
import signal
import subprocess
import sys
import threading

from fingerpost.apps.logs import DroppingHandler


class Blocked:
    def __init__(self):
        self.written = []
        self.is_read = threading.Event()
        self.has_begun = threading.Event()

    def write(self, text):
        self.has_begun.set()
        self.is_read.wait(60)
        self.written.append(text)

    def flush(self):
        pass


def record(text):
    return logging.LogRecord("fingerpost", logging.INFO, "", 0, text, (), None)


def test_lines_beyond_the_queue_are_dropped_and_counted():
    stream = Blocked()
    handler = DroppingHandler(stream, max_lines=2)
    handler.handle(record("a"))
    assert stream.has_begun.wait(60)
    for text in "bcde":
        handler.handle(record(text))
    stream.is_read.set()
    handler.flush()
    handler.handle(record("f"))
    handler.flush()

    told = "2 log lines were dropped because standard error was not being read\n"
    assert "".join(stream.written) == f"a\nb\nc\n{told}f\n"


def test_a_closed_reader_stops_nothing():
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w")
    handler = DroppingHandler(stream)
    for text in "ab":
        handler.handle(record(text))
        handler.flush()

    assert handler.queue.unfinished_tasks == 0


def test_a_record_that_cannot_be_formatted_does_not_raise(capsys):
    handler = DroppingHandler(io.StringIO())
    handler.handle(logging.LogRecord("fingerpost", logging.INFO, "", 0, "%d items", ("a",), None))
    handler.flush()

    assert "TypeError" in capsys.readouterr().err


def test_lines_about_calls_are_written_before_sigterm_ends_the_process():
    code = """
import logging, signal
from fingerpost.apps.logs import end_after_logging, start_logging

start_logging(can_block=False)
signal.signal(signal.SIGTERM, end_after_logging)
logging.getLogger("fingerpost").info("called", extra={"call": {}})
signal.raise_signal(signal.SIGTERM)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr.endswith("called\n")) == (-signal.SIGTERM, True)


def test_in_json_the_value_of_a_secret_does_not_hide_keys():
    """Operators search by the names of fields, and a secret may be the same word."""
    code = """
import logging
from fingerpost.apps.logs import start_logging

start_logging(as_json=True)
logging.getLogger("fingerpost").warning('a "message"', extra={"call": {"tool": "find_stops", "code": "a message"}})
"""
    environ = {**os.environ, "TOWN_TOKEN": "message"}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True)
    line = json.loads(ended.stderr)
    del line["time"]

    call = {"tool": "find_stops", "code": "a [TOWN_TOKEN]"}
    assert line == {"level": "WARNING", "logger": "fingerpost", **call, "message": 'a "[TOWN_TOKEN]"'}
