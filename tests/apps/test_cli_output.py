"""Tables and the spinner at a terminal."""

import io

import pytest
from rich.console import Console

from fingerpost.apps.cli import output
from fingerpost.apps.cli.output import new_console, new_table, showing_work


def draw(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout", io.StringIO())
    table = new_table("id", "direction", "value")
    table.add_row("DEMO:KAMPPI-M", "towards Kumpulan kampus", "394,328,000,000")
    console = new_console()
    console.print(table)
    return console.file.getvalue()


def test_a_table_wraps_between_words(monkeypatch):
    """A narrow column breaks its text between words."""
    drawn = draw(monkeypatch, 50)

    assert max(map(len, drawn.splitlines())) <= 50
    assert all(word in drawn for word in ("DEMO:KAMPPI-M", "Kumpulan", "394,328,000,000"))


@pytest.mark.parametrize("width", [30, 40])
def test_no_id_is_cut_on_a_narrow_terminal(monkeypatch, width):
    """Ids and figures are shown whole, because people copy them."""
    assert all(id_ in draw(monkeypatch, width) for id_ in ("DEMO:KAMPPI-M", "394,328,000,000"))


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, True), (False, False)])
def test_a_spinner_says_on_a_terminal_what_is_worked_on(monkeypatch, is_terminal, shown):
    """On a terminal the spinner names the work; in a pipe nothing is printed."""
    stream = io.StringIO()
    monkeypatch.setattr(output, "new_console", lambda **_: Console(file=stream, force_terminal=is_terminal, width=60))
    with showing_work("Loading [b] ..."):
        pass

    assert ("Loading [b] ..." in stream.getvalue()) is shown


def test_an_answer_is_printed_letter_by_letter(capsys):
    """Brackets in a stop's name are no markup, and the name of a smiley is none."""
    output.print_answer("Alpha\n   BUS 1 to [red]Beta[/red] :bus:")

    assert capsys.readouterr().out == "Alpha\n   BUS 1 to [red]Beta[/red] :bus:\n"
