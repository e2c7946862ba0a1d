"""The one door from the command line to the rooms behind it."""

import asyncio
import logging
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import typer

from fingerpost.apps.cli.output import complain, print_json, say
from fingerpost.apps.kernels import count_kernels
from fingerpost.apps.logs import start_logging
from fingerpost.errors import ToolError

if TYPE_CHECKING:
    from fingerpost.apps.settings import Settings
    from fingerpost.apps.wiring import House
    from fingerpost.contract.published import Answer

TOOL_ERROR = 1
USAGE = 2

# Nobody need be told of a wait that is shorter.
_SILENCE_S = 1.0


@dataclass(frozen=True, slots=True)
class Caller:
    """The options that went before the command."""

    user: str | None
    verbose: bool


@contextmanager
def usage() -> Iterator[None]:
    """End the process with a sentence and the status of wrong usage where a setting or an option is no good."""
    try:
        yield
    except ToolError as error:
        complain(error)
        raise typer.Exit(USAGE) from error


def read_caller_settings(caller: Caller) -> "Settings":
    """Return the settings, with the caller's own."""
    # Here and in open_house: the rooms behind take longer to import than --help and --version may last.
    from fingerpost.apps.settings import read_settings

    if caller.verbose:
        start_logging()
    else:
        logging.getLogger("fingerpost").addHandler(logging.NullHandler())
    with usage():
        return read_settings(user=caller.user)


def prepare_settings(ctx: typer.Context) -> "Settings":
    """Return the caller's settings, with the home folder made ready."""
    settings = read_caller_settings(ctx.obj)
    with usage():
        settings.prepare_home()
    return settings


def open_house(caller: Caller, groups: Collection[str] | None = None) -> "House":
    """Return the house with the tools of some groups, or all."""
    settings = read_caller_settings(caller)
    from fingerpost.apps.wiring import build

    with usage():
        return build(settings, groups)


def ask(house: "House", tool: str, arguments: object) -> "Answer":
    """Return a tool's answer for the house's user."""
    from fingerpost.apps import wall

    async def ask_and_close() -> "Answer":
        try:
            return await wall.answer(house.tools, tool, arguments, user=house.settings.user)
        finally:
            await house.networks.close()

    with _patience():
        return asyncio.run(ask_and_close())


def find_zone(house: "House", origin: dict[str, Any], destination: dict[str, Any]) -> tzinfo:
    """Return the zone of the network that a trip is planned in; UTC where the ends are no good and none will be."""
    from fingerpost.apps.trip_zone import find_trip_zone

    with _patience():
        return ZoneInfo(asyncio.run(find_trip_zone(house, origin, destination)) or "UTC")


@contextmanager
def _patience() -> Iterator[None]:
    """Say why, on stderr, where a person waits for machine code that is not there yet."""
    reason = threading.Timer(_SILENCE_S, say, ["Compiling the engine; this happens once ..."])
    reason.daemon = True
    if count_kernels() == 0:
        reason.start()
    try:
        yield
    finally:
        reason.cancel()


def ask_once(ctx: typer.Context, tool: str, arguments: object, *, as_json: bool) -> "Answer":
    """Return a tool's successful answer.

    With ``as_json`` the envelope goes to stdout, success or error, and nothing else; an error ends the process.
    """
    answer = ask(open_house(ctx.obj), tool, arguments)
    if as_json:
        print_json(answer.body)
    if answer.is_error:
        if not as_json and answer.error is not None:
            complain(answer.error)
        raise typer.Exit(TOOL_ERROR)
    return answer
