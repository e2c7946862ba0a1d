"""Names of feeds on a terminal: they command it nothing, and what it cannot write does not end the command."""

import io

import pytest
from rich.text import Text

from fingerpost.apps.cli.output import new_console, new_table


def draw(monkeypatch, *printed, encoding="utf-8"):
    """Return what a terminal of an encoding is sent."""
    stdout = io.TextIOWrapper(io.BytesIO(), encoding, newline="\n")
    monkeypatch.setattr("sys.stdout", stdout)
    new_console().print(*printed)
    stdout.flush()
    return stdout.buffer.getvalue().decode(encoding)


def table_of(*cells):
    table = new_table("name", "id")
    table.add_row(*cells)
    return table


@pytest.mark.parametrize(
    "printed",
    ["Al\x1b[31mpha", Text("Al\x1b[31mpha", "bold"), table_of("Al\x1b[31mpha", Text("\x9b2J"))],
    ids=["text", "styled", "cells"],
)
def test_a_name_commands_the_terminal_nothing(monkeypatch, printed):
    """An escape sequence in a feed would colour, clear or retitle what the rider looks at."""
    drawn = draw(monkeypatch, printed)
    assert "Al\ufffd[31mpha" in drawn
    assert not {"\x1b", "\x9b"} & set(drawn)


def test_lines_stay_lines(monkeypatch):
    """A line break of our own is no foreign control character."""
    assert draw(monkeypatch, "one\ntwo") == "one\ntwo\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_that_has_no_such_letters_shows_the_others(monkeypatch, encoding):
    """A locale without UTF-8 is no reason to end with a traceback."""
    assert "Tokyo ??, D" in draw(monkeypatch, table_of("Tokyo 東京, D", "1"), encoding=encoding)


def test_spaces_of_a_feed_cut_no_word(monkeypatch):
    """A tab is as wide as where it happens to stand, and a leading space is part of no word."""
    drawn = draw(monkeypatch, table_of("A", Text("\t two\twords")), table_of("A", "  Kamppi"))
    assert "two words" in drawn
    assert "Kamppi" in drawn
    assert "…" not in drawn
