"""Where the real time of each network comes from, kept so that a running server notices a change.

::

    realtime/
      HSL.json          the network's sources
      .lock             held by whoever changes one
      .changes          one byte longer after every change
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.net.request import read_template

_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.+)", re.DOTALL)
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class RealtimeSource:
    """A file's path or a URL (``${NAME}`` stands for a key in the environment), and the FEED it speaks of, if one."""

    location: str
    feed_name: str | None = None

    @property
    def is_url(self) -> bool:
        """Whether the location is asked over HTTP."""
        return self.location.lower().startswith(("http://", "https://"))


def read_source(text: str) -> RealtimeSource:
    """Return the source that ``[FEED=]PATH`` or ``[FEED=]URL`` names; a file that is there is taken whole.

    Raises:
        ParameterError: an address that holds a key in the clear or is none, or a path at which there is no file.
    """
    named = _NAMED.fullmatch(text)
    name, place = (None, text) if named is None or Path(text).exists() else (named[1], named[2])
    if "://" in place and not Path(place).exists():
        read_template(place)
        return RealtimeSource(place, name)
    path = Path(place).expanduser().absolute()
    if not path.is_file():
        raise ParameterError(
            f"There is no realtime file {place}", {"field": "realtime"}, hint="Name a GTFS-Realtime file, or a URL"
        )
    return RealtimeSource(str(path), name)


class RealtimeSources:
    """The sources of all networks below a home folder."""

    def __init__(self, home: Path) -> None:
        self._root = home / "realtime"
        self._changes = self._root / ".changes"

    def read(self, network: str) -> tuple[RealtimeSource, ...]:
        """Return a network's sources; none where it has no real time.

        Raises:
            SettingsInvalid: they cannot be read.
        """
        try:
            raw = json.loads(self._record(network).read_text(encoding="utf-8"))
            return tuple(RealtimeSource(str(each["location"]), each["feed_name"]) for each in raw)
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SettingsInvalid(
                f"{self._record(network)} cannot be read ({error}). "
                "Run `fingerpost network add` for it again, or remove the file."
            ) from error

    def write(self, network: str, sources: Sequence[RealtimeSource]) -> None:
        """Keep a network's sources in place of those before, in one step; no sources forget it.

        Raises:
            SettingsInvalid: the disk refuses.
        """
        record = self._record(network)
        if not sources and not record.exists():
            return
        try:
            with self._changing():
                if not sources:
                    record.unlink(missing_ok=True)
                    return
                draft = self._root / f".{network}.draft"
                with draft.open("w", encoding="utf-8") as file:
                    json.dump([asdict(source) for source in sources], file, ensure_ascii=False)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(record)
        except OSError as error:
            raise SettingsInvalid(f"{self._root} cannot be written ({error.strerror})") from error

    def remove(self, network: str) -> None:
        """Forget a network's sources; nothing where it has none.

        Raises:
            SettingsInvalid: the disk refuses.
        """
        self.write(network, ())

    def stamp(self) -> int:
        """Return a value that changes whenever the sources of a network do; one ``stat`` call."""
        try:
            return self._changes.stat().st_size
        except OSError:
            return 0

    def _record(self, network: str) -> Path:
        return self._root / f"{network}{_SUFFIX}"

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Wait until nobody else changes a record, and count the change once it is done."""
        self._root.mkdir(parents=True, exist_ok=True)
        with (self._root / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
            with self._changes.open("ab") as changes:
                changes.write(b".")
