"""What a terminal shows while a command works for longer than a second."""

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress

# What is quicker than this is not worth a word.
AFTER_S = 1.0
WORDS = "Working ..."
_LOOK_EVERY_S = 0.1


class SignOfLife:
    """A line on stderr that says what a command works on and for how long, once nothing was printed for a second.

    Whatever prints calls ``make_way`` first, which erases the line; it comes back after another second of silence.
    Nothing is written where stderr is no terminal.

    Args:
        console: where it is written.
        after_s: how long a silence may be.
        worked_s: how long there has been silence already.
    """

    def __init__(self, console: Console | None = None, after_s: float = AFTER_S, worked_s: float = 0) -> None:
        self._console = console or Console(stderr=True, markup=False, emoji=False, highlight=False)
        self._after_s = after_s
        self._words = WORDS
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._shown: Progress | None = None
        self._is_held_back = False
        self._quiet_since = self._begun = time.monotonic() - worked_s
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Begin to wait for silence."""
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._thread = threading.Thread(target=self._watch, name="fingerpost-waiting", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Erase the line for good."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    @contextmanager
    def saying(self, words: str) -> Iterator[None]:
        """Say in the block what is worked on."""
        before = self._words
        self._put(words)
        try:
            yield
        finally:
            self._put(before)

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Show nothing in the block."""
        self._hold(back=True)
        try:
            yield
        finally:
            self._hold(back=False)

    def make_way(self) -> None:
        """Erase the line, if it is shown."""
        with self._lock:
            self._quiet_since = time.monotonic()
            self._erase()

    def _hold(self, *, back: bool) -> None:
        self.make_way()
        self._is_held_back = back

    def _put(self, words: str) -> None:
        with self._lock:
            self._words = words
            # It is drawn anew with these words.
            self._erase()

    def _watch(self) -> None:
        while not self._over.wait(min(self._after_s, _LOOK_EVERY_S)):
            with self._lock:
                is_quiet = time.monotonic() - self._quiet_since >= self._after_s
                if is_quiet and not self._is_held_back and self._shown is None:
                    self._draw()
        with self._lock:
            self._erase()

    def _draw(self) -> None:
        # It takes longer to import than --help may last.
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        # What goes to stdout stays there: it may be a pipe.
        self._shown = Progress(
            *columns, console=self._console, transient=True, redirect_stdout=False, get_time=time.monotonic
        )
        task = self._shown.add_task(self._words, total=None)
        self._shown.tasks[task].start_time = self._begun
        self._shown.start()

    def _erase(self) -> None:
        if self._shown is not None:
            self._shown.stop()
            self._shown = None


# Of this process: commands run one in another in tests alone.
_running: list[SignOfLife] = []


@contextmanager
def showing_life(sign: SignOfLife) -> Iterator[None]:
    """Show a sign of life in the block; the functions below speak to it, and do nothing where there is none."""
    _running.append(sign)
    try:
        with sign:
            yield
    finally:
        _running.pop()


def showing_work(what: str) -> AbstractContextManager[None]:
    """Say in the block what is worked on, where the command shows that it works."""
    return _running[-1].saying(what) if _running else nullcontext()


def screen_taken() -> AbstractContextManager[None]:
    """Leave the terminal in the block to who draws on it, or types."""
    return _running[-1].held_back() if _running else nullcontext()


def make_way() -> None:
    """Erase the sign of life before something is printed."""
    if _running:
        _running[-1].make_way()
