"""Network records: what a person decides about each network, kept in ``fingerpost.toml`` under the home folder.

::

    [networks.HSL]
    source = "gtfs"
    feeds = ["HSL=https://example.org/hsl.zip"]
    realtime = ["https://example.org/trips?key=${HSL_KEY}"]
    priority = 10
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

FILE_NAME = "fingerpost.toml"


class NetworkRecord(BaseModel):
    """One network's record.

    Attributes:
        name: upper case; it begins the stop ids of a network with one feed.
        source: the kind of source that answers, such as ``gtfs`` for the embedded engine.
        feeds: GTFS feeds, each ``[FEED=]PATH`` or ``[FEED=]URL``, keys written ``${NAME}``.
        realtime: GTFS-Realtime that speaks of these feeds, each ``[FEED=]PATH`` or ``[FEED=]URL``.
        extract: the path of an OpenStreetMap extract.
        url: where a remote source is asked.
        key: the environment variable that holds the key of a remote source.
        fallback: the network that answers in this one's stead when it cannot.
        priority: of several networks that cover a place the highest answers.
        languages: in which the network has names, the preferred first.
        bounds: south, west, north, east in degrees (WGS84), in place of what the source states.
        zone: the IANA time zone, in place of what the source states.
        attribution: sentences that every answer carries besides the source's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    source: str = "gtfs"
    feeds: tuple[str, ...] = ()
    realtime: tuple[str, ...] = ()
    extract: str | None = None
    url: str | None = None
    key: str | None = None
    fallback: str | None = None
    priority: int = 0
    languages: tuple[str, ...] = ()
    bounds: Annotated[tuple[float, float, float, float] | None, Field(description="south, west, north, east")] = None
    zone: str | None = None
    attribution: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkRecords:
    """All records that can be used, by name, and by name a sentence on each that cannot."""

    records: Mapping[str, NetworkRecord] = field(default_factory=lambda: MappingProxyType({}))
    problems: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class NetworkRecordFile:
    """The file of network records below a home folder."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE_NAME

    def read(self) -> NetworkRecords:
        """Return the records as they stand; none where there is no file."""
        try:
            raw = tomllib.loads(self.path.read_text(encoding="utf-8")).get("networks", {})
        except FileNotFoundError:
            return NetworkRecords()
        records, problems = {}, {}
        for name, fields in raw.items():
            try:
                records[name] = NetworkRecord(name=name, **fields)
            except ValidationError as error:
                problems[name] = f"{self.path}: [networks.{name}] cannot be used ({error.errors()[0]['msg']})"
        return NetworkRecords(records, problems)

    def stamp(self) -> object:
        """Return a value that changes whenever the file does; one ``stat`` call."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino
