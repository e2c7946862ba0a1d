"""What a terminal shows while a command works for longer than a second."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from fingerpost.apps.cli.output import new_console

# What is quicker than this is not worth a word.
AFTER_S = 1.0


@contextmanager
def showing_work(what: str, console: Console | None = None, after_s: float = AFTER_S) -> Iterator[None]:
    """Show on a terminal's stderr what is worked on and for how long, once it has taken a while; it is gone afterwards.

    Nothing is written where stderr is no terminal.
    """
    console = console or new_console(stderr=True)
    if not console.is_terminal:
        yield
        return
    over = threading.Event()

    def show() -> None:
        if over.wait(after_s):
            return
        # It takes longer to import than --help may last.
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        # What goes to stdout stays there: it may be a pipe.
        with Progress(*columns, console=console, transient=True, redirect_stdout=False) as progress:
            progress.add_task(what, total=None)
            over.wait()

    thread = threading.Thread(target=show, name="fingerpost-waiting", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
