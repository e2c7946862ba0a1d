"""Read and write network records: the operator's settings for each network, in ``networks/NAME.toml``.

Both people and ``fingerpost network`` edit these files, so edits preserve comments.
"""

import os
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fingerpost.errors import NotAccessible, ParameterError, new_unwritable
from fingerpost.store.atomic_file import locked, replace_file
from fingerpost.store.network_names import parse_network_name
from fingerpost.store.network_record import KEYS, NetworkRecord, build_record, suggest

__all__ = ["NetworkRecord", "NetworkRecordStore", "NetworkRecords"]

_SUFFIX = ".toml"

RecordCheck = Callable[[NetworkRecord], None]
"""Raises ParameterError with the key as ``details["field"]`` if a record cannot be used."""

_Problems = dict[str, ParameterError]


@dataclass(frozen=True, slots=True)
class NetworkRecords:
    """The valid records, and the problems with invalid records, by name."""

    records: Mapping[str, NetworkRecord] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)


class NetworkRecordStore:
    """The records below a home folder; ``kinds`` are the allowed values of ``source``; None allows any."""

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
        valid = {name: record for name, record in records.items() if name not in problems}
        return NetworkRecords(valid, sentences)

    def stamp(self) -> object:
        """Return a value that changes whenever a record does."""
        try:
            with os.scandir(self._folder) as files:
                records = [(file.name, file.stat()) for file in files if _is_record_file(file.name)]
        except OSError:
            # The folder is missing, or a file was removed in the meantime; the next call will notice.
            return ()
        return tuple(sorted((name, status.st_mtime_ns, status.st_size, status.st_ino) for name, status in records))

    def build(self, name: str, fields: Mapping[str, Any]) -> NetworkRecord:
        """Build a record and check it, except its fallback; raise ParameterError with the key in ``details``."""
        record = build_record(name, fields, self._kinds)
        for check in self._checks:
            check(record)
        return record

    def check(self, record: NetworkRecord) -> None:
        """Raise ParameterError, with the key as ``details["field"]``, if a record cannot be stored."""
        parse_network_name(record.name)
        self.build(record.name, record.model_dump(exclude={"name"}))
        self._check_fallback(record)

    def put(self, record: NetworkRecord) -> None:
        """Add or replace a record; comments are preserved if the file is valid TOML."""
        # A local import, because only commands that change a record need it.
        import tomlkit

        with self._locked():
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
        with self._locked():
            names = self._list_names()
            # A file with an invalid network name is removed by its exact name.
            name = name if name in names else parse_network_name(name)
            if name not in names:
                known = ", ".join(names) or "none"
                raise ParameterError(f"There is no network {name}. Added networks: {known}", {"field": "name"})
            users = [user for user, record in self._load()[0].items() if record.fallback == name != user]
            if users:
                raise ParameterError(f"{name} is the fallback of {', '.join(users)}", {"field": "name"})
            self.path(name).unlink()

    def _check_fallback(self, record: NetworkRecord) -> None:
        """Raise ParameterError if a record's fallback cannot be used."""
        before, problems = self._load()
        records = {**before, record.name: record}
        if (error := _find_fallback_problems(records, {*records, *problems}).get(record.name)) is not None:
            raise error

    def _load(self) -> tuple[dict[str, NetworkRecord], _Problems]:
        records: dict[str, NetworkRecord] = {}
        problems: _Problems = {}
        for name in self._list_names():
            try:
                records[name] = self.build(name, self._read_table(name))
            except FileNotFoundError:
                # Removed after the folder was listed.
                continue
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

    def _read_table(self, name: str) -> dict[str, Any]:
        try:
            return tomllib.loads(self.path(name).read_bytes().decode("utf-8-sig"))
        except FileNotFoundError:
            raise
        except OSError as error:
            message, hint = f"the file cannot be read ({error.strerror or error})", "correct its permissions"
        except UnicodeDecodeError:
            message, hint = "the file is not UTF-8", "save it as UTF-8"
        except (ValueError, RecursionError) as error:
            message, hint = f"the file is not TOML ({error})", "correct the line"
        raise ParameterError(message, {"field": "name"}, hint=hint)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with locked(self._folder / ".records.lock"):
                yield
        except OSError as error:
            raise new_unwritable(self._folder, error) from error


def _find_fallback_problems(records: Mapping[str, NetworkRecord], names: Collection[str]) -> _Problems:
    problems: _Problems = {}
    for name, record in records.items():
        if record.fallback is None:
            continue
        if record.fallback not in names:
            problems[name] = ParameterError(
                f"its fallback {record.fallback!r} is not an added network",
                {"field": "fallback"},
                hint=suggest(record.fallback, names) or "name another network, or remove the line",
            )
            continue
        chain = [name]
        at: str | None = record.fallback
        while at is not None and at not in chain:
            chain.append(at)
            at = records[at].fallback if at in records else None
        if at == name:
            problems[name] = ParameterError(
                f"its fallbacks form a cycle ({' → '.join([*chain, name])})",
                {"field": "fallback"},
                hint="remove one of these fallbacks",
            )
    return problems


def _is_record_file(file_name: str) -> bool:
    # Editors and macOS leave hidden files behind.
    return file_name.endswith(_SUFFIX) and not file_name.startswith(".")


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[:1].isupper() and text[1:2].islower() else text
