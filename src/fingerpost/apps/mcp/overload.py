"""Calls beyond what one process takes at a time are refused at once, and told when to come again."""

from contextvars import ContextVar
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from fingerpost.errors import SourceLimited
from fingerpost.runtime.instruments import REQUESTS_IN_HAND

# By then most requests that are in hand now have been answered.
_RETRY_AFTER_S = 1.0


@dataclass(slots=True)
class RequestsInHand:
    """How many requests of a server have come and are not answered, those included that it has not begun."""

    count: int = 0


@dataclass(slots=True)
class _Place:
    """The place of one request among those in hand when it came, from 1."""

    requests: RequestsInHand
    number: int
    is_left: bool = False

    def leave(self) -> None:
        if not self.is_left:
            self.is_left = True
            self.requests.count -= 1
            REQUESTS_IN_HAND.add(-1)


_place: ContextVar[_Place | None] = ContextVar("place", default=None)


def counted(app: ASGIApp, requests: RequestsInHand) -> ASGIApp:
    """Return the application for one request that has come just now, and count the request until it is answered.

    Short searches run without a pause: of a hundred requests at most one is running, and the others wait in the event
    loop's queue. So they are counted as they come, and not when they begin.
    """
    requests.count += 1
    REQUESTS_IN_HAND.add(1)
    place = _Place(requests, requests.count)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        _place.set(place)
        try:
            await app(scope, receive, send)
        finally:
            place.leave()

    return answer


def check_room(most: int) -> None:
    """Let a call go on unless ``most`` others were in hand when it came; on stdio nobody counts.

    Raises:
        SourceLimited: there is no room.
    """
    place = _place.get()
    if place is not None and place.number > most:
        place.leave()
        raise SourceLimited(f"The server is full: it takes {most} requests at a time", retry_after_s=_RETRY_AFTER_S)
