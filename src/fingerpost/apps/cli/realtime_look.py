"""Look once at the sources of real time of a network, for the commands that add, change and show it."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from fingerpost.apps.cli.output import new_console
from fingerpost.errors import ToolError

if TYPE_CHECKING:
    from fingerpost.apps.settings import Settings
    from fingerpost.store.network_records import NetworkRecord

Unchecked = Annotated[bool, typer.Option("--unchecked", help="Follow real time although it gives nothing now.")]


class RealtimeLook:
    """What the sources of a record give now. They are fetched once."""

    def __init__(self, settings: "Settings", record: "NetworkRecord") -> None:
        # numpy and the reader take longer to load than other commands take to run.
        from fingerpost.apps.realtime_check import fetch_realtime

        self._settings = settings
        self._record = record
        self._fetched = fetch_realtime(settings, record.realtime)

    def refuse(self, *, unchecked: bool) -> None:
        """Raise where a source cannot be followed.

        Raises:
            ParameterError: it speaks of a FEED that there is not; or it gives nothing, and is not ``unchecked``.
        """
        from fingerpost.apps.realtime_check import refuse_silent, refuse_unknown_feeds

        refuse_unknown_feeds(self._record, self._settings.home)
        if not unchecked:
            refuse_silent(self._fetched)

    def print(self) -> None:
        """Print what of each source the prepared timetable knows."""
        from fingerpost.apps.realtime_check import check_sources, list_check_lines
        from fingerpost.transit.engine.timetable.timetable_store import TimetableStore

        console = new_console()
        try:
            _, timetable = TimetableStore(self._settings.home).open(self._record.name)
        except ToolError as error:
            console.print(f"Real time was not compared: {error.message}", soft_wrap=True, markup=False)
            return
        for check in check_sources(timetable, self._fetched, self._settings.home):
            for line, good in list_check_lines(check):
                console.print(Text(line, "" if good else "bold red"), soft_wrap=True)
