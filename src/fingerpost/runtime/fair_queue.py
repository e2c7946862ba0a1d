"""A queue that callers share fairly: they are served in turn, one piece of each caller after another's.

With one queue for all, a caller of a hundred pieces would keep every other one waiting for all of them.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class FairQueue(Generic[_T]):
    """What waits, by caller; the next is that of the caller who has waited longest since its last turn.

    Whoever shares it among threads holds a lock.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[_T]] = OrderedDict()

    def put(self, caller: str, piece: _T, *, is_first: bool = False) -> None:
        """Let a piece wait behind the others of its caller, or before them."""
        pieces = self._waiting.setdefault(caller, deque())
        if is_first:
            pieces.appendleft(piece)
        else:
            pieces.append(piece)

    def take(self, may_begin: Callable[[str], bool] = lambda _caller: True) -> _T | None:
        """Return the next piece, of the callers that a function lets through; None where none of theirs waits."""
        caller = next(filter(may_begin, self._waiting), None)
        if caller is None:
            return None
        pieces = self._waiting.pop(caller)
        piece = pieces.popleft()
        if pieces:
            self._waiting[caller] = pieces
        return piece

    def drop(self, caller: str, piece: _T) -> None:
        """Let a piece wait no longer; one that does not wait is left alone."""
        pieces = self._waiting.get(caller, deque())
        if piece in pieces:
            pieces.remove(piece)
            if not pieces:
                del self._waiting[caller]

    def count_before(self, caller: str, piece: _T) -> int:
        """Return how many pieces of the same caller are served before one that waits."""
        return self._waiting[caller].index(piece)
