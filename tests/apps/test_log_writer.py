"""The log never waits for its reader, and reports the lines that it dropped."""

import logging
import os
import threading

from fingerpost.apps.logs import LogWriter


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
    writer = LogWriter(stream, max_lines=2)
    writer.handle(record("a"))
    assert stream.has_begun.wait(60)
    for text in "bcde":
        writer.handle(record(text))
    stream.is_read.set()
    writer.flush()

    told = "2 log lines were dropped, because standard error was not read\n"
    assert "".join(stream.written) in (f"a\n{told}b\nc\n", f"a\nb\n{told}c\n")


def test_a_closed_reader_stops_nothing():
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w")
    writer = LogWriter(stream)
    for text in "ab":
        writer.handle(record(text))
        writer.flush()

    assert writer._lines.unfinished_tasks == 0
