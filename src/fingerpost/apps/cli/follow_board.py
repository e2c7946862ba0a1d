"""Follow a departure board: redraw it in place at a terminal, or print each update below the last."""

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
from fingerpost.apps.cli.error_texts import describe_error
from fingerpost.apps.cli.output import new_console, print_json, style_answer
from fingerpost.apps.demo_disruption import DemoDisruption
from fingerpost.apps.wiring import Application

# Screen lines that are not departures: title, state, warnings, prompt.
_LINES_AROUND = 10
_MIN_ROWS, _MAX_ROWS = 3, 50


def follow_board(
    application: Application,
    arguments: dict[str, Any],
    *,
    every_s: float,
    as_json: bool,
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Show a board and update it every so many seconds, until Ctrl-C.

    With ``as_json`` each answer is one line of stdout. A first answer that is an error ends the process; a later one
    is shown above the old board.
    """
    console, demo = new_console(), DemoDisruption(application)
    is_live = console.is_terminal and not as_json
    if is_live and "limit" not in arguments:
        rows = min(_MAX_ROWS, console.size.height - _LINES_AROUND)
        arguments = {**arguments, "limit": max(_MIN_ROWS, rows)}
    ask = partial(error_boundary.answer, application.tools, "get_departures", arguments, user=application.settings.user)

    async def follow() -> None:
        with answering(application):
            await demo.catch_up()
            answer = board = await ask()
        if answer.is_error:
            print_or_end(answer, as_json=as_json)
        live = Live(console=console, auto_refresh=False, vertical_overflow="crop")
        with live if is_live else nullcontext():
            while True:
                board = board if answer.is_error else answer
                title, *lines = style_answer(board.text)
                source, time = "live" if board.body["realtimeUsed"] else "timetable", board.body["dataFreshness"][11:19]
                head = [title, Text(f"{source}, as of {time}, updates every {every_s:g} s, Ctrl-C ends", "dim")]
                if answer.error is not None:
                    problem = " ".join(describe_error(answer.error))
                    head.append(Text(f"! Could not update: {problem}", "bold red"))
                if as_json:
                    print_json(answer.body)
                elif is_live:
                    live.update(Group(*head, *lines), refresh=True)
                else:
                    console.print(Group(*head, *lines), "", soft_wrap=True)
                await wait(every_s)
                await demo.catch_up()
                answer = await ask()

    with suppress(KeyboardInterrupt):
        run_and_close(application, follow())
