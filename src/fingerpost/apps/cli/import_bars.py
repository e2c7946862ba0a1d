"""Progress bars of an import: one per feed, then one for linking the stops."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn


@contextmanager
def show_import_bars(console: Console) -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function that updates a bar, creating it first if needed; bars are shown only on a terminal.

    It takes the bar's name, how much is done and the total, None as long as that is unknown; any thread may call it.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:

        def show(what: str, done: int, whole: int | None) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=whole)
            bars.update(tasks[what], completed=done, total=whole)

        yield show
