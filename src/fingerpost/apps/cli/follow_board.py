"""Follow a departure board: redrawn in place at a terminal, printed one below the other elsewhere."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from fingerpost.apps import error_boundary
from fingerpost.apps.cli.application import answering, print_or_end, run_and_close
from fingerpost.apps.cli.output import new_console, print_json, style_answer
from fingerpost.apps.cli.terminal_words import describe_error, in_terminal_words
from fingerpost.apps.demo_disruption import DemoDisruption
from fingerpost.apps.wiring import Application
from fingerpost.contract.published import Answer
from fingerpost.errors import ToolError

# Title, header of the table, what is said below it, and the line of the prompt.
_LINES_AROUND = 10
_LEAST_ROWS = 3

_Wait = Callable[[float], Awaitable[None]]


def follow_board(
    application: Application,
    arguments: dict[str, Any],
    *,
    every_s: float,
    as_json: bool,
    wait: _Wait = asyncio.sleep,
) -> None:
    """Show a board and update it every so many seconds, until Ctrl-C.

    With ``as_json`` each answer is one line of stdout. A first answer that is an error ends the process; a later one
    is shown above the old board.
    """
    screen, demo = _Screen(every_s), DemoDisruption(application)
    if "limit" not in arguments and not as_json:
        arguments = {**arguments, "limit": screen.count_rows()}
    ask = partial(error_boundary.answer, application.tools, "get_departures", arguments, user=application.settings.user)

    async def follow() -> None:
        with answering(application):
            await demo.catch_up()
            answer = await ask()
        if answer.is_error:
            print_or_end(answer, as_json=as_json)
        with screen.live if screen.is_terminal and not as_json else nullcontext():
            while True:
                if as_json:
                    print_json(answer.body)
                else:
                    screen.show(answer)
                await wait(every_s)
                await demo.catch_up()
                answer = await ask()

    with suppress(KeyboardInterrupt):
        run_and_close(application, follow())


class _Screen:
    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._console = new_console()
        self.is_terminal = self._console.is_terminal
        self.live = Live(console=self._console, auto_refresh=False, vertical_overflow="crop")
        self._answer: Answer | None = None

    def count_rows(self) -> int:
        """Return how many departures have room on the screen; all that fit into an answer's default elsewhere."""
        return max(_LEAST_ROWS, min(50, self._console.size.height - _LINES_AROUND)) if self.is_terminal else 10

    def show(self, answer: Answer) -> None:
        if answer.error is None:
            self._answer = answer
        assert self._answer is not None, "a first answer that is an error is not shown"
        drawn = Group(*self._draw(self._answer, answer.error))
        if self.is_terminal:
            self.live.update(drawn, refresh=True)
        else:
            self._console.print(drawn, "", soft_wrap=True)

    def _draw(self, board: Answer, error: ToolError | None) -> list[Text]:
        title, *lines = style_answer(in_terminal_words(board.text))
        live, time = "live" if board.body["realtimeUsed"] else "timetable", board.body["dataFreshness"][11:19]
        state = Text(f"{live}, as of {time}, updates every {self._every_s:g} s, Ctrl-C ends", "dim")
        failure = [] if error is None else [Text(f"! Could not update: {' '.join(describe_error(error))}", "bold red")]
        return [title, state, *failure, *lines]
