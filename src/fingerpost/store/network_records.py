"""Network records: the operator's settings for each network, in ``networks/NAME.toml``.

Both people and ``fingerpost network`` edit these files, so the command preserves comments.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from fingerpost.clock import is_zone
from fingerpost.errors import NotAccessible, ParameterError
from fingerpost.store.atomic_file import locked, replace_file, stamp_files

NAME_RULE: Final = "use up to 40 letters A-Z, digits, _ and -, not beginning with DEMO-"

_NAME = re.compile("(?!DEMO-)[A-Z0-9_-]{1,40}")

_SUFFIX = ".toml"

_Box = tuple[float, float, float, float]


def _check_bounds(bounds: _Box) -> _Box:
    south, west, north, east = bounds
    if not (-90 <= south < north <= 90 and -180 <= west < east <= 180):
        raise ValueError("not a box")
    return bounds


def _check_zone(zone: str) -> str:
    if not is_zone(zone):
        raise ValueError("not a zone")
    return zone


_Text = Annotated[str, Field(min_length=1)]
_Language = Annotated[str, Field(pattern="^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
_Variable = Annotated[str, Field(pattern="^[A-Z_][A-Z0-9_]*$")]
_Degrees = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Bounds = Annotated[tuple[_Degrees, _Degrees, _Degrees, _Degrees], AfterValidator(_check_bounds)]
Zone = Annotated[str, AfterValidator(_check_zone)]
"""The name of an IANA time zone."""


class NetworkRecord(BaseModel):
    """The operator's settings for one network."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="in upper case; the prefix of the stop ids if the network has only one feed.")
    source: _Text = Field("gtfs", description="the kind of source, such as ``gtfs`` for the embedded engine.")
    feeds: tuple[_Text, ...] = Field(
        (), description="GTFS feeds, each ``[FEED=]PATH`` or ``[FEED=]URL``, with keys written as ``${NAME}``."
    )
    realtime: tuple[_Text, ...] = Field(
        (), description="GTFS-Realtime sources, each ``[FEED=]PATH`` or ``[FEED=]URL``."
    )
    extract: _Text | None = Field(None, description="the path of an OpenStreetMap extract.")
    url: _Text | None = Field(None, description="the address of a remote source.")
    key: _Variable | None = Field(None, description="the environment variable that holds the key of a remote source.")
    fallback: str | None = Field(None, description="the network that answers if this network cannot.")
    priority: int = Field(0, strict=True, description="if networks overlap, the one with the highest priority answers.")
    languages: tuple[_Language, ...] = Field((), description="the languages of its names, in order of preference.")
    bounds: _Bounds | None = Field(
        None, description="south, west, north, east in degrees (WGS84), instead of the source's own area."
    )
    zone: Zone | None = Field(None, description="the IANA time zone, instead of the source's own.")
    attribution: tuple[_Text, ...] = Field(
        (), description="attribution that every answer contains in addition to the source's own."
    )


KEYS = tuple(key for key in NetworkRecord.model_fields if key != "name")
"""The keys of a record, in file order."""

_EXPECTED = {
    **dict.fromkeys(("feeds", "realtime", "attribution"), "must be a list of quoted strings, none of them empty"),
    "bounds": "must be a list of four numbers in degrees: south, west, north, east; south < north and west < east",
    "key": "must be the name of an environment variable in capitals, such as MY_KEY, not the key itself",
    "languages": "must be codes such as fi or en",
    "priority": "must be a whole number",
    "zone": "must be an IANA time zone such as Europe/Helsinki, in quotes",
}


def is_network_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def parse_network_name(name: str) -> str:
    """Return a network's name in upper case, or raise ParameterError if it is invalid."""
    upper = name.strip().upper()
    if not is_network_name(upper):
        raise ParameterError(f"A network cannot be called {name!r}: {NAME_RULE}", {"field": "name"})
    return upper


RecordCheck = Callable[[NetworkRecord], None]
"""Raises ParameterError with the key as ``details["field"]`` if a record cannot be used."""

_Problems = dict[str, ParameterError]


@dataclass(frozen=True, slots=True)
class NetworkRecords:
    """The valid records, and the problems with invalid records, by name."""

    records: Mapping[str, NetworkRecord] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)


class NetworkRecordStore:
    """The records in a home folder.

    ``kinds`` lists the allowed values of ``source``; if it is None, any value is allowed.
    """

    def __init__(
        self, home: Path, *, kinds: Collection[str] | None = None, checks: Collection[RecordCheck] = ()
    ) -> None:
        self._folder = home / "networks"
        self._kinds = kinds
        self._checks = checks

    def path(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"

    def read(self) -> NetworkRecords:
        records, problems = self._load()
        problems |= _find_fallback_problems(records, {*records, *problems})
        sentences = {
            name: f"{self.path(name)}: {_lower_first(error.message)}; {_lower_first(error.hint or 'correct the line')}"
            for name, error in problems.items()
        }
        return NetworkRecords({name: record for name, record in records.items() if name not in problems}, sentences)

    def stamp(self) -> object:
        """Return a value that changes whenever a record changes."""
        return stamp_files(self._folder, _is_record_file)

    def build(self, name: str, fields: Mapping[str, Any]) -> NetworkRecord:
        """Build a record and check all but its fallback; raise ParameterError, with the key as ``details["field"]``."""
        if not is_network_name(name):
            hint = f"rename the file to {name.upper()}.toml" if is_network_name(name.upper()) else NAME_RULE
            raise ParameterError(f"a network cannot be called {name!r}", {"field": "name"}, hint=hint)
        for key in fields:
            if key not in KEYS:
                raise ParameterError(f"unknown key {key!r}", {"field": key}, hint=f"the keys are {', '.join(KEYS)}")
        try:
            record = NetworkRecord(name=name, **fields)
        except ValidationError as error:
            # Report only the first error, without the value, because a URL may contain a key.
            key = str(error.errors(include_url=False)[0]["loc"][0])
            raise ParameterError(f"{key} {_EXPECTED.get(key, 'must be a quoted string')}", {"field": key}) from error
        if self._kinds is not None and record.source not in self._kinds:
            hint = f"the kinds are {', '.join(sorted(self._kinds))}"
            raise ParameterError(f"unknown source kind {record.source!r}", {"field": "source"}, hint=hint)
        for check in self._checks:
            check(record)
        return record

    def check(self, record: NetworkRecord) -> None:
        """Raise ParameterError, with the key as ``details["field"]``, if a record cannot be stored."""
        parse_network_name(record.name)
        self.build(record.name, record.model_dump(exclude={"name"}))
        before, problems = self._load()
        records = {**before, record.name: record}
        if (error := _find_fallback_problems(records, {*records, *problems}).get(record.name)) is not None:
            raise error

    def put(self, record: NetworkRecord) -> None:
        """Add or replace a record; comments are preserved if the file is valid TOML."""
        # A local import, because only commands that change a record need it.
        import tomlkit

        with locked(self._folder / ".records.lock", self._folder):
            self.check(record)
            path = self.path(record.name)
            try:
                text = path.read_bytes().decode("utf-8-sig")
                document = tomlkit.parse(text if text.endswith("\n") else f"{text}\n")
            except (OSError, ValueError, RecursionError):
                text, document = "", tomlkit.document()
            before = document.unwrap()
            for key in before.keys() - set(KEYS):
                del document[key]
            for key in KEYS:
                value = getattr(record, key)
                plain = list(value) if isinstance(value, tuple) else value
                if key != "source" and value == NetworkRecord.model_fields[key].default:
                    document.pop(key, None)
                # Compare types too, because False equals 0.
                elif plain != before.get(key) or type(plain) is not type(before[key]):
                    is_multiline = isinstance(plain, list) and len(plain) > 1 and isinstance(plain[0], str)
                    document[key] = tomlkit.item(plain).multiline(True) if is_multiline else plain
            edited = tomlkit.dumps(document)
            if edited != text:
                replace_file(path, edited.encode())

    def remove(self, name: str) -> None:
        """Remove a record; raise ParameterError if it does not exist or is the fallback of another network."""
        with locked(self._folder / ".records.lock", self._folder):
            names = self._list_names()
            # A file with an invalid network name is removed by its exact name.
            name = name if name in names else parse_network_name(name)
            if name not in names:
                known = ", ".join(names) or "none"
                raise ParameterError(f"There is no network {name}. Added networks: {known}", {"field": "name"})
            dependents = [other for other, record in self._load()[0].items() if record.fallback == name != other]
            if dependents:
                raise ParameterError(f"{name} is the fallback of {', '.join(dependents)}", {"field": "name"})
            self.path(name).unlink()

    def _load(self) -> tuple[dict[str, NetworkRecord], _Problems]:
        records: dict[str, NetworkRecord] = {}
        problems: _Problems = {}
        for name in self._list_names():
            try:
                fields = tomllib.loads(self.path(name).read_bytes().decode("utf-8-sig"))
            except FileNotFoundError:
                # The file was removed after the folder was listed.
                continue
            except OSError as error:
                reason = f"the file cannot be read ({error.strerror or error})"
                problems[name] = ParameterError(reason, hint="correct its permissions")
            except UnicodeDecodeError:
                problems[name] = ParameterError("the file is not UTF-8", hint="save it as UTF-8")
            except (ValueError, RecursionError) as error:
                problems[name] = ParameterError(f"the file is not TOML ({error})", hint="correct the line")
            else:
                try:
                    records[name] = self.build(name, fields)
                except ParameterError as error:
                    problems[name] = error
        return records, problems

    def _list_names(self) -> list[str]:
        try:
            return sorted(path.stem for path in self._folder.iterdir() if _is_record_file(path.name))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise NotAccessible(
                f"{self._folder} cannot be read ({error.strerror or error}). It must be a folder that you can read"
            ) from error


def _find_fallback_problems(records: Mapping[str, NetworkRecord], names: Collection[str]) -> _Problems:
    problems: _Problems = {}
    for name, record in records.items():
        chain = [name]
        while chain[-1] not in chain[:-1] and chain[-1] in records and (after := records[chain[-1]].fallback):
            chain.append(after)
        if record.fallback is not None and record.fallback not in names:
            reason = f"its fallback {record.fallback!r} is not an added network"
            hint = "name another network, or remove the line"
        elif len(chain) > 1 and chain[-1] == name:
            reason = f"its fallbacks form a cycle ({' → '.join(chain)})"
            hint = "remove one of these fallbacks"
        else:
            continue
        problems[name] = ParameterError(reason, {"field": "fallback"}, hint=hint)
    return problems


def _is_record_file(file_name: str) -> bool:
    # Editors and macOS leave hidden files behind.
    return file_name.endswith(_SUFFIX) and not file_name.startswith(".")


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[:1].isupper() and text[1:2].islower() else text
