"""When a rider has to leave to catch the departures of a board, by the walk to each stop (rule C1)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, NotRequired

from pydantic import Field

from fingerpost.contract.wire import WireDict
from fingerpost.errors import ParameterError
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.places.labels import Position, read_label
from fingerpost.transit.port import DepartureBoard
from fingerpost.transit.rules.times import print_instant
from fingerpost.transit.rules.trip_limits import LONGEST_WALK_M
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.wording import clock_of

_FIELD = "walkFrom"


class WireLeave(WireDict):
    """When to leave for a row of the board, and how far it is; a row without is cancelled, or out of reach."""

    departure: Annotated[int, Field(ge=0, description="row")]
    at: str
    walkMeters: Annotated[int, Field(ge=0)]


class Leaving(WireDict):
    """When to leave, where the rider said from where."""

    leaveBy: NotRequired[list[WireLeave]]
    walking: NotRequired[str]


async def find_walk_start(text: str | None, variables: VariableStore, user: str | None) -> Coordinate | None:
    """Return where a walk to a stop begins: a saved place or a position; None where nobody said.

    Raises:
        ParameterError: it is neither.
    """
    if text is None:
        return None
    label = await read_label(text, variables, user)
    if isinstance(label, Position):
        return label.location.coordinate
    raise ParameterError(
        f"{_FIELD} {text!r} is neither a saved place nor a position",
        {"field": _FIELD},
        hint="Look it up with findAddressOrStop, and send its lat,lon; or save it with save_user_variable",
    )


def show_leaving(board: DepartureBoard, shown: Sequence[Departure]) -> Leaving:
    """Write when to leave for each row; no field where nobody asked, or the source measures no walks."""
    if board.walks is None:
        return {}
    rows: list[WireLeave] = []
    for at, departure in enumerate(shown):
        walk = board.walks.get(departure.stop_id)
        if walk is not None and not departure.cancelled:
            leave = print_instant(departure.expected - walk.seconds, board.provenance.zone)
            rows.append({"departure": at, "at": leave, "walkMeters": walk.metres})
    return {"leaveBy": rows, "walking": board.provenance.walking}


def warn_of_walks(board: DepartureBoard, asked: str | None, warnings: Warnings) -> None:
    if asked is None or board.walks:
        return
    why = (
        f"no walk of {LONGEST_WALK_M:,.0f} m or less leads there"
        if board.walks is not None
        else f"{board.provenance.network} does not tell how long the walk takes"
    )
    warnings.add(WarningCode.PREFERENCE_UNMET, f"When to leave from {asked!r} is not known: {why}.")


def say_leaving(leave: WireLeave, now: str, since: str) -> str:
    """Return when to leave for a row, given when now is; what has to be left before now cannot be caught."""
    if datetime.fromisoformat(leave["at"]) < datetime.fromisoformat(now):
        return f", {leave['walkMeters']} m away: too late to walk"
    return f", leave by {clock_of(leave['at'], since)} ({leave['walkMeters']} m)"
