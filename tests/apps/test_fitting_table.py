"""Tables that fit a terminal of any width without cutting a word, an id or a number."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from fingerpost.apps.cli.fitting_table import new_table

WORDS = ["DEMO:KAMPPI-M", "394,328,000,000", "towards", "Kumpulan", "kampus"]


def draw(width):
    """Return the lines of a table of two rows in a terminal of some width."""
    console = Console(file=io.StringIO(), width=width)
    table = new_table("id", "value", "direction")
    table.add_row("DEMO:KAMPPI-M", "394,328,000,000", Text("towards Kumpulan kampus"))
    table.add_row("A", "1", "")
    console.print(table)
    return console.file.getvalue().splitlines()


def test_a_wide_terminal_shows_it_as_it_is():
    """One line a row."""
    assert [line.split() for line in draw(80)] == [
        ["id", "value", "direction"],
        ["─" * 57],
        ["DEMO:KAMPPI-M", "394,328,000,000", "towards", "Kumpulan", "kampus"],
        ["A", "1"],
    ]


@pytest.mark.parametrize("width", [43, 46, 60])
def test_cells_are_wrapped_between_words(width):
    """What is least wide, and more: the longest words of the columns are 13, 15 and 9 wide, and 6 lie between them."""
    lines = draw(width)

    assert max(map(len, lines)) <= width
    assert lines[1].startswith("─")
    assert all(any(word in line for line in lines) for word in WORDS)


@pytest.mark.parametrize("width", [20, 42])
def test_where_a_word_would_be_cut_a_row_is_a_line(width):
    """It goes on below, indented; what is empty leaves no gap, and a row that fits leaves no empty line."""
    lines = draw(width)

    assert max(map(len, lines)) <= width
    assert all(any(word in line for line in lines) for word in WORDS)
    assert not any("─" in line for line in lines)
    assert lines[-1].rstrip() == "A  1"
    assert all(line.strip() for line in lines)
