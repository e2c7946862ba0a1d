"""Run a feed import for a command, with progress bars on stderr."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from fingerpost.apps.cli.import_bars import ImportBars
from fingerpost.apps.cli.output import new_console, say
from fingerpost.apps.cli.waiting import screen_taken
from fingerpost.errors import FeedUnusable

if TYPE_CHECKING:
    from fingerpost.apps.feeds import FeedImporter
    from fingerpost.apps.settings import Settings

_R = TypeVar("_R")


def run_import(settings: "Settings", what: str, work: Callable[["FeedImporter"], Awaitable[_R]]) -> _R:
    """Run some work of a ``FeedImporter`` with progress bars on stderr, and return its result.

    Raises:
        FeedUnusable: as the work does; its message begins with the verdict.
        ToolError: as the work does.
    """
    # numpy and the importer take longer to load than other commands take to run.
    from fingerpost.apps.feeds import FeedImporter
    from fingerpost.apps.outbound import new_client

    console = new_console(stderr=True)
    if not console.is_terminal:
        say(what)

    async def run() -> _R:
        with screen_taken(), ImportBars(console) as bars:
            async with new_client(settings) as client:
                return await work(
                    FeedImporter(
                        settings.home,
                        client,
                        on_fetched=lambda shown, size: bars.show(shown, size, None),
                        progress=bars.show,
                    )
                )

    try:
        return asyncio.run(run())
    except FeedUnusable as error:
        raise FeedUnusable(f"Not usable: {error.message}", error.details, hint=error.hint) from error
