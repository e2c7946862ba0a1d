"""Terminal output: feeds' names cannot control the terminal, nothing is cut, and long work shows progress."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from fingerpost.apps.cli import output
from fingerpost.apps.cli.network_add import show_import_bars
from fingerpost.apps.cli.output import new_console, show_status


def draw(monkeypatch, *printed, encoding="utf-8"):
    stdout = io.TextIOWrapper(io.BytesIO(), encoding, newline="\n")
    monkeypatch.setattr("sys.stdout", stdout)
    new_console().print(*printed)
    stdout.flush()
    return stdout.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize(
    "printed", ["Al\x1b[31mpha\x9b2J", Text("Al\x1b[31mpha\x9b2J", "bold")], ids=["text", "styled"]
)
def test_a_name_cannot_control_the_terminal(monkeypatch, printed):
    """An escape sequence in a feed would colour, clear or retitle what the rider looks at."""
    drawn = draw(monkeypatch, printed)
    assert "Al\ufffd[31mpha" in drawn
    assert not {"\x1b", "\x9b"} & set(drawn)


def test_our_own_line_breaks_are_preserved(monkeypatch):
    assert draw(monkeypatch, "one\ntwo") == "one\ntwo\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_that_has_no_such_letters_shows_the_others(monkeypatch, encoding):
    assert "Tokyo ??, D" in draw(monkeypatch, "Tokyo 東京, D", encoding=encoding)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_spinner_names_the_work_on_a_terminal(monkeypatch, is_terminal):
    stream = io.StringIO()
    monkeypatch.setattr(output, "new_console", lambda **_: Console(file=stream, force_terminal=is_terminal, width=60))
    with show_status("Loading [b] ..."):
        pass

    assert ("Loading [b] ..." in stream.getvalue()) is is_terminal


def test_an_answer_is_printed_letter_by_letter(capsys):
    output.print_answer("Alpha\n   BUS 1 to [red]Beta[/red] :bus:")

    assert capsys.readouterr().out == "Alpha\n   BUS 1 to [red]Beta[/red] :bus:\n"


def test_of_work_whose_end_is_unknown_no_share_is_shown_until_it_is_done():
    """An extract says how many objects it holds when all were read: then, and not before, 100 %."""
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=80)
    with show_import_bars(console) as show:
        show("reading streets", 0, None)
        show("reading streets", 50_000, None)
        console.print("half way")
        before = shown.getvalue()
        show("reading streets", 1, 1)

    assert "reading streets" in before
    assert "%" not in before
    assert "100%" in shown.getvalue()
