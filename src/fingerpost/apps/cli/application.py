"""Open the application for a command, call a tool, and print the answer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from fingerpost.apps.cli import TOOL_ERROR, Caller
from fingerpost.apps.cli.output import print_answer, print_error, print_json, print_message, showing_work
from fingerpost.apps.logs import start_logging

if TYPE_CHECKING:
    from fingerpost.apps.settings import Settings
    from fingerpost.apps.wiring import Application
    from fingerpost.contract.tool_definition import Answer

_R = TypeVar("_R")

Json = Annotated[bool, typer.Option("--json", help="Print the contract's envelope and nothing else.")]


def prepare_settings(ctx: typer.Context) -> "Settings":
    """Read the settings for a command, make the home folder, and start logging if ``--verbose`` was given."""
    # Here and below: the imports take longer than --help may take.
    from fingerpost.apps.settings import read_settings

    caller: Caller = ctx.obj
    if caller.verbose:
        start_logging()
    else:
        logging.getLogger("fingerpost").addHandler(logging.NullHandler())
    settings = read_settings(user=caller.user)
    settings.prepare_home()
    return settings


def open_application(ctx: typer.Context, groups: Collection[str] | None = None) -> "Application":
    from fingerpost.apps.wiring import build

    settings = prepare_settings(ctx)
    return build(settings, groups)


def run_and_close(application: "Application", work: Coroutine[Any, Any, _R]) -> _R:
    async def run() -> _R:
        try:
            return await work
        finally:
            await application.networks.close()

    return asyncio.run(run())


def ask(
    application: "Application",
    tool: str,
    arguments: object,
    prepare: Callable[["Application"], Awaitable[None]] | None = None,
) -> "Answer":
    """Return a tool's answer for the application's user; ``prepare`` runs before the call."""
    from fingerpost.apps import error_boundary

    async def answer() -> "Answer":
        if prepare is not None:
            await prepare(application)
        return await error_boundary.answer(application.tools, tool, arguments, user=application.settings.user)

    with answering(application):
        return run_and_close(application, answer())


@contextmanager
def answering(application: "Application") -> Iterator[None]:
    """Answer one question in the block, with a spinner on a terminal."""
    from fingerpost.apps.kernels import answer_while_compiling

    answer_while_compiling(application.settings.home, print_message)
    with showing_work("Looking ..."):
        yield


def show_answer(application: "Application", tool: str, arguments: object, *, as_json: bool) -> None:
    """Call a tool and print its answer; an error ends the process."""
    print_or_end(ask(application, tool, arguments), as_json=as_json)


def print_or_end(answer: "Answer", *, as_json: bool) -> None:
    """Print an answer's text, or its envelope and nothing else; end the process with status 1 if it is an error."""
    if as_json:
        print_json(answer.body)
    elif answer.error is not None:
        print_error(answer.error)
    else:
        print_answer(answer.text)
    if answer.is_error:
        raise typer.Exit(TOOL_ERROR)
