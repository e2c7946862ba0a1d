"""Stop ids of a server beside their printed form (rule A8)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

# Ids are remembered up to this many.
_MOST_KEPT = 200_000


class StopIdBook(ABC):
    """Prints the ids of one server, and finds the server's own id of a printed one.

    Upper-casing cannot be undone, so each id is stored when it is printed.
    """

    def __init__(self) -> None:
        self._own_by_printed: dict[str, str] = {}
        self._printed_by_own: dict[str, str] = {}

    @abstractmethod
    def print_trip(self, own_id: str) -> str:
        """Return a trip's id as answers show it: its FEED in the printed form, and the feed's own id."""

    @abstractmethod
    def _print(self, own_id: str, *, exact: bool) -> str:
        """Return the printed form of an id; where ``exact``, small letters are escaped."""

    @abstractmethod
    def _guess_own(self, printed: str) -> Iterable[str]:
        """Return what a printed id in upper case may be on the server, the likeliest first."""

    def print(self, own_id: str) -> str:
        """Return the printed form of a server's id; of two that differ only in case, the later one is escaped."""
        printed = self._printed_by_own.get(own_id)
        if printed is None:
            if len(self._printed_by_own) > _MOST_KEPT:
                self._printed_by_own.clear()
                self._own_by_printed.clear()
            printed = self._print(own_id, exact=False)
            if self._own_by_printed.get(printed, own_id) != own_id:
                printed = self._print(own_id, exact=True)
            while self._own_by_printed.setdefault(printed, own_id) != own_id:
                printed += "-"
            self._printed_by_own[own_id] = printed
        return printed

    def list_own(self, printed: str) -> list[str]:
        """Return what a printed id, case ignored, may be on the server, the likeliest first; empty for no id of it."""
        wanted = printed.strip().upper()
        known = self._own_by_printed.get(wanted)
        return list(dict.fromkeys(self._guess_own(wanted))) if known is None else [known]

    def list_all_own(self, printed: Iterable[str]) -> list[str]:
        """Return what several printed ids may be, each once."""
        return list(dict.fromkeys(own_id for each in printed for own_id in self.list_own(each)))
