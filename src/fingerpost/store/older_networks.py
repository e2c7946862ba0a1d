"""Homes from before ``fingerpost.toml``: what a person had decided is gathered from three places, once.

::

    networks/HSL.json          the pointer to prepared data; an older one does not say for which feeds it was prepared
    feeds/HSL/origins.json     where each feed came from, beside what is known of its content
    realtime/HSL.json          where its real time comes from

A pointer of the older form is the mark of a network that has still to be taken over. The record is written first
and the pointer last, so whoever is killed on the way is followed by somebody who does the rest.
"""

import json
import logging
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fingerpost.store.atomic_file import locked, replace_file
from fingerpost.store.network_names import is_network_name
from fingerpost.store.network_record import NetworkRecord

_log = logging.getLogger(__name__)
_SUFFIX = ".json"
# Not settings of an address, but what was learnt of its content.
_STATE = ("file", "known", "signature")


@dataclass(frozen=True, slots=True)
class OlderNetwork:
    """What was found of one network, and a sentence on each thing that could not be read."""

    record: NetworkRecord
    lost: tuple[str, ...]


class OlderHome:
    """The files of an older home."""

    def __init__(self, home: Path) -> None:
        self._networks = home / "networks"
        self._feeds = home / "feeds"
        self._realtime = home / "realtime"

    def list_names(self, recorded: Collection[str]) -> list[str]:
        """Return the networks that have still to be taken over; a damaged pointer counts until there is a record."""
        if not self._networks.is_dir():
            return []
        names = sorted(path.stem for path in self._networks.glob(f"*{_SUFFIX}") if is_network_name(path.stem))
        return [name for name in names if self._is_older(name, recorded)]

    def read(self, name: str) -> OlderNetwork:
        """Return the record of a network: its feeds and its real time, as far as they can be read."""
        lost: list[str] = []
        feeds: tuple[str, ...] = ()
        realtime: tuple[str, ...] = ()
        try:
            feeds = tuple(_feed_text(raw) for raw in _load(self._origins(name)) or ())
        except (OSError, ValueError, TypeError, KeyError) as error:
            lost.append(f"The feeds of {name} could not be read from {self._origins(name)} ({error}); name them again.")
        path = self._realtime / f"{name}{_SUFFIX}"
        try:
            realtime = _realtime_texts(path)
        except (OSError, ValueError, TypeError, KeyError) as error:
            lost.append(f"The real time of {name} could not be read from {path} ({error}); name it again.")
        for sentence in lost:
            _log.warning("network=%s %s", name, sentence)
        return OlderNetwork(NetworkRecord(name=name, feeds=feeds, realtime=realtime), tuple(lost))

    def finish(self, names: Collection[str]) -> None:
        """Bring the files of networks that have records into today's form; what a person decided goes from them.

        Raises:
            OSError: the disk refuses.
        """
        with locked(self._networks / ".lock"):
            for name in names:
                feeds = self._finish_origins(name)
                with suppress(ValueError, TypeError, KeyError):
                    # What could not be read stays, for whoever can.
                    _realtime_texts(path := self._realtime / f"{name}{_SUFFIX}")
                    path.unlink(missing_ok=True)
                with suppress(ValueError):
                    pointer = _load(self._networks / f"{name}{_SUFFIX}")
                    if isinstance(pointer, dict):
                        pointer["feeds"] = feeds
                        _save(self._networks / f"{name}{_SUFFIX}", pointer)
        self._remove_realtime()

    def _is_older(self, name: str, recorded: Collection[str]) -> bool:
        try:
            pointer = _load(self._networks / f"{name}{_SUFFIX}")
        except (OSError, ValueError):
            return name not in recorded
        return "feeds" not in pointer if isinstance(pointer, dict) else name not in recorded

    def _origins(self, name: str) -> Path:
        return self._feeds / name / "origins.json"

    def _finish_origins(self, name: str) -> list[str]:
        """Keep only what is known of the content of each feed; return the feeds."""
        try:
            origins = _load(self._origins(name))
            if isinstance(origins, dict):
                return list(origins)
            state = {_feed_text(raw): {key: raw[key] for key in _STATE} for raw in origins or ()}
        except (OSError, ValueError, TypeError, KeyError):
            # It was told when the record was made.
            return []
        if origins is not None:
            _save(self._origins(name), state)
            (self._feeds / name / ".lock").unlink(missing_ok=True)
        return list(state)

    def _remove_realtime(self) -> None:
        if self._realtime.is_dir() and not list(self._realtime.glob(f"*{_SUFFIX}")):
            for name in (".lock", ".changes"):
                (self._realtime / name).unlink(missing_ok=True)
            with suppress(OSError):
                self._realtime.rmdir()


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def _save(path: Path, content: object) -> None:
    replace_file(path, json.dumps(content, ensure_ascii=False).encode())


def _feed_text(raw: dict[str, Any]) -> str:
    """Return a feed as it is named in a record: its keys stood beside its address."""
    if raw["url"] is None:
        return _named(raw["feed_name"], str(raw["path"]))
    url = str(raw["url"])
    for parameter, variable in raw["secret_params"].items():
        url += f"{'&' if '?' in url else '?'}{quote(parameter, safe='')}=${{{variable}}}"
    return _named(raw["feed_name"], url)


def _realtime_texts(path: Path) -> tuple[str, ...]:
    return tuple(_named(raw["feed_name"], str(raw["location"])) for raw in _load(path) or ())


def _named(feed_name: str | None, place: str) -> str:
    return place if feed_name is None else f"{feed_name}={place}"
