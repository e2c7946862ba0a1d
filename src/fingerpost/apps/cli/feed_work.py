"""Fetching and importing feeds for a command, with bars on stderr."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from fingerpost.apps.cli.import_bars import ImportBars
from fingerpost.apps.cli.output import new_console, say

if TYPE_CHECKING:
    from fingerpost.apps.feeds import FeedKeeper
    from fingerpost.apps.settings import Settings

_R = TypeVar("_R")


def keep_feeds(settings: "Settings", what: str, work: Callable[["FeedKeeper"], Awaitable[_R]]) -> _R:
    """Let a keeper of feeds work, and show on stderr what it does.

    Raises:
        ToolError: as the work does.
    """
    # numpy and the importer take longer to load than other commands take to run.
    from fingerpost.apps.feeds import FeedKeeper
    from fingerpost.apps.outbound import new_client

    console = new_console(stderr=True)
    if not console.is_terminal:
        say(what)

    async def run() -> _R:
        with ImportBars(console) as bars:
            async with new_client(settings) as client:
                return await work(
                    FeedKeeper(
                        settings.home,
                        client,
                        tell=lambda shown, size: bars.show(shown, size, None),
                        progress=bars.show,
                    )
                )

    return asyncio.run(run())
