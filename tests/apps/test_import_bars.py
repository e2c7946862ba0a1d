"""The bars of an import: what is told of the work, and what is shown of it."""

import io

from rich.console import Console

from fingerpost.apps.cli.import_bars import show_import_bars


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
