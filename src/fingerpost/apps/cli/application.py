"""Helpers for commands: open the application, call tools, print answers, and complete words in the shell."""

import asyncio
import inspect
import logging
import os
import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from contextlib import aclosing
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from fingerpost.apps.cli import find_exit_status
from fingerpost.apps.cli.output import print_answer, print_error, print_json, print_message, show_status
from fingerpost.apps.logs import start_logging

if TYPE_CHECKING:
    from fingerpost.apps.settings import Settings
    from fingerpost.apps.wiring import Application
    from fingerpost.contract.published_tool import Answer

_R = TypeVar("_R")

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def with_options(command: Callable[..., None], options: Mapping[str, tuple[Any, Any]]) -> Callable[..., None]:
    """Replace a command's ``**`` parameter with options; ``options`` maps names to (type hint, option)."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        command(*args, **kwargs)

    signature = inspect.signature(command)
    parameters = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    for name, (hint, option) in options.items():
        default = False if hint is bool else None
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, option])
        )
    setattr(run, "__signature__", signature.replace(parameters=parameters))  # noqa: B010
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def prepare_settings(ctx: typer.Context) -> "Settings":
    """Read the settings for a command, create the home folder, and start logging if ``--verbose`` is set."""
    # Local imports, here and below, because global ones would slow --help down.
    from fingerpost.apps.settings import read_settings

    options = ctx.find_root().params
    # While the shell completes a word, the log would be written into the command line.
    if options["verbose"] and not ctx.resilient_parsing:
        start_logging()
    else:
        logging.getLogger("fingerpost").addHandler(logging.NullHandler())
    settings = read_settings(user=options["user"])
    settings.prepare_home()
    return settings


def open_application(ctx: typer.Context, groups: Collection[str] | None = None) -> "Application":
    from fingerpost.apps.wiring import build

    return build(prepare_settings(ctx), groups)


def run_and_close(application: "Application", work: Coroutine[Any, Any, _R]) -> _R:
    async def run() -> _R:
        async with aclosing(application):
            return await work

    return asyncio.run(run())


def call_tool(
    application: "Application",
    tool: str,
    arguments: object,
    prepare: Callable[["Application"], Awaitable[None]] | None = None,
) -> "Answer":
    """Call a tool as the application's user; ``prepare`` runs before the call."""
    from fingerpost.apps import error_boundary

    async def answer() -> "Answer":
        if prepare is not None:
            await prepare(application)
        return await error_boundary.answer(application.tools, tool, arguments, user=application.settings.user)

    return run_search(application, answer())


def run_search(application: "Application", work: Coroutine[Any, Any, _R]) -> _R:
    """Run ``work``, with a spinner on a terminal; if needed, compile the engine in the background."""
    from fingerpost.apps.warm_up import compile_in_background

    compile_in_background(application.settings.home, print_message)
    with show_status("Searching ..."):
        return run_and_close(application, work)


def call_and_print(application: "Application", tool: str, arguments: object, *, as_json: bool) -> None:
    """Call a tool and print its answer; if the call failed, exit with the error's status."""
    print_or_exit(call_tool(application, tool, arguments), as_json=as_json)


def print_or_exit(answer: "Answer", *, as_json: bool) -> None:
    """Print an answer's text or its envelope; if the answer is an error, exit with the error's status."""
    if as_json:
        print_json(answer.body)
    elif answer.error is not None:
        print_error(answer.error)
    else:
        from fingerpost.transit.tools.wording import REFS_LABEL

        lines = answer.text.splitlines()
        print_answer("\n".join(line for line in lines if not line.startswith(REFS_LABEL)))
    if answer.is_error:
        raise typer.Exit(find_exit_status(answer.error))


def complete_network(ctx: typer.Context, incomplete: str) -> list[str]:
    from fingerpost.apps.source_kinds import open_record_store

    return _select(open_record_store(prepare_settings(ctx).home).read().records, incomplete)


def complete_key(ctx: typer.Context, incomplete: str) -> list[str]:
    from fingerpost.apps.storage import open_variables

    settings = prepare_settings(ctx)
    return _select((each.key for each in open_variables(settings).list_variables(settings.user)), incomplete)


def complete_place(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return saved names and, once a letter is typed, stop names from networks on this machine."""
    application = open_application(ctx)

    async def list_stops() -> list[str]:
        networks = (await application.networks.open()).answering if incomplete else ()
        # A network without a deadline is on this machine.
        local = [each for each in networks if each.profile.answer_deadline_s is None]
        return [found.place.name for each in local for found in await each.find_places(incomplete)]

    return [*complete_key(ctx, incomplete), *_select(run_and_close(application, list_stops()), incomplete)]


def _select(names: Iterable[str], incomplete: str) -> list[str]:
    """Return names that match in any case, with the prefix as typed, because typer drops other spellings."""
    length = len(incomplete)
    matching = dict.fromkeys(name for name in names if name[:length].casefold() == incomplete.casefold())
    # Bash inserts a completion into its line unquoted; other shells quote it.
    is_bash = os.environ.get("_FINGERPOST_COMPLETE") == "complete_bash"
    return [incomplete + re.sub(r"([^\w.,:/+-])", r"\\\1" if is_bash else r"\1", name[length:]) for name in matching]
