"""Progress bars of an import: one per feed, then one for linking the stops."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn


class ImportBars:
    """Progress bars, shown only on a terminal; may be called from any thread."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._bars = Progress(*columns, console=console, disable=not console.is_terminal)
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        """Show the bars."""
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the bars as they are."""
        self._bars.stop()

    def show(self, what: str, done: int, whole: int | None) -> None:
        """Update a bar, creating it first if needed; ``whole`` is the total, None as long as it is unknown."""
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(what, total=whole)
        self._bars.update(self._tasks[what], completed=done, total=whole)
