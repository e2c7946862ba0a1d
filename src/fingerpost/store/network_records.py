"""Network records, the operator's settings for each network: ``fingerpost.toml`` in the home folder.

::

    [networks.HSL]
    source = "gtfs"
    feeds = ["HSL=https://example.org/hsl.zip"]
    realtime = ["https://example.org/trips?key=${HSL_KEY}"]
    priority = 10

People edit the file, and so does ``fingerpost network``. What is known of the content that was fetched or prepared
is kept elsewhere, with the network's own folders.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.store.atomic_file import locked, replace_file
from fingerpost.store.network_names import PATTERN, plain_name
from fingerpost.store.network_record import KEYS, NetworkRecord, list_changes
from fingerpost.store.record_editing import remove_table, write_table
from fingerpost.store.record_reading import (
    FILE_NAME,
    NetworkRecords,
    RecordCheck,
    RecordReader,
    describe_unknown_key,
)
from fingerpost.store.record_text import NETWORKS, decode, read_document

__all__ = ["FILE_NAME", "NetworkRecord", "NetworkRecordFile", "NetworkRecords", "describe_schema"]

_Edit = Callable[[str], str]


class NetworkRecordFile:
    """The file of network records below a home folder.

    Args:
        home: the folder.
        kinds: the words that ``source`` may hold; None allows any.
        checks: what else must hold for a record, each raising ParameterError.
    """

    def __init__(
        self, home: Path, *, kinds: Collection[str] | None = None, checks: Collection[RecordCheck] = ()
    ) -> None:
        self.path = home / FILE_NAME
        self._reader = RecordReader(kinds, checks)

    def read(self) -> NetworkRecords:
        """Return the records as they stand; none where there is no file.

        Raises:
            SettingsInvalid: the file cannot be opened.
        """
        return self._reader.read(self._raw(), str(self.path))

    def stamp(self) -> object:
        """Return a value that changes whenever the file does; one ``stat`` call."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def build(self, name: str, fields: Mapping[str, Any]) -> NetworkRecord:
        """Return a record that may be put.

        Raises:
            ParameterError: a value is no good; ``details["field"]`` is the key.
        """
        return self._reader.build(name, fields)

    def check(self, record: NetworkRecord) -> None:
        """Check that a record could be written to the file now.

        Raises:
            ParameterError: it could not; ``details["field"]`` is the key.
            SettingsInvalid: the file is written in a way that leaves no place for it.
        """
        self._edited(self._raw(), record.name, _putting(record))

    def put(self, record: NetworkRecord) -> None:
        """Add or replace a record; comments and unreadable records stay.

        Raises:
            ParameterError: the record cannot be used.
            SettingsInvalid: the disk refuses, or the file leaves no place for it.
        """
        self._change(record.name, _putting(record))

    def set_value(self, name: str, key: str, value: Any) -> None:
        """Change one key of a record; None removes it.

        Raises:
            ParameterError: there is no such record or key, or the value cannot be used.
            SettingsInvalid: the disk refuses, or the file leaves no place for it.
        """
        name = plain_name(name)
        if key not in KEYS:
            raise describe_unknown_key(key).to_error()

        def edit(text: str) -> str:
            document = read_document(text)
            broken = document.broken.get(name)
            if broken is not None:
                raise ParameterError(
                    f"The record of {name} cannot be read: {broken.what}, line {broken.line} of {self.path}",
                    {"field": "name"},
                    hint="Correct it by hand, or remove the network and add it again",
                )
            if name not in document.tables:
                raise self._unknown(text, name)
            return write_table(text, name, {key: list(value) if isinstance(value, tuple) else value})

        self._change(name, edit, key)

    def remove(self, name: str) -> None:
        """Remove a record; comments above and below it stay.

        Raises:
            ParameterError: there is no such record, or it is another's fallback.
            SettingsInvalid: the disk refuses, or the file does not let it go.
        """

        def edit(text: str) -> str:
            document = read_document(text)
            known = {*document.tables, *document.broken}
            # A name that no network can have is removed as it stands.
            exact = name if name in known else plain_name(name)
            if exact not in known:
                raise self._unknown(text, exact)
            return remove_table(text, exact)

        self._change(name if name in self.read().problems else plain_name(name), edit)

    def _change(self, name: str, edit: _Edit, key: str | None = None) -> None:
        with self._locked():
            before = self._raw()
            after = self._edited(before, name, edit, key)
            if after != before:
                self._write(after)

    def _edited(self, before: str, name: str, edit: _Edit, key: str | None = None) -> str:
        """Return the text after an edit that leaves every other record as usable as it was.

        With ``key``, only what is wrong with that key counts against it: other mistakes were there before.
        """
        after = edit(before)
        _, old = self._reader.validate(read_document(before))
        _, new = self._reader.validate(read_document(after))
        for each, problem in new.items():
            at_fault = key in (None, problem.key) or name not in old if each == name else each not in old
            if at_fault:
                whose = "" if each == name else f"{each} could not be used any more: "
                raise problem.to_error(whose)
        return after

    def _raw(self) -> str:
        try:
            return decode(self.path.read_bytes())
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise SettingsInvalid(
                f"{self.path} cannot be read ({error.strerror or error}). Mend its rights."
            ) from error

    def _write(self, text: str) -> None:
        mark = b""
        try:
            if self.path.exists() and self.path.read_bytes().startswith(b"\xef\xbb\xbf"):
                mark = b"\xef\xbb\xbf"
            replace_file(self.path, mark + text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise self._refusal(error) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with locked(self.path.with_name(f".{FILE_NAME}.lock")):
                yield
        except OSError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> SettingsInvalid:
        return SettingsInvalid(
            f"{self.path} cannot be written ({error.strerror or error}). "
            "Free space or mend its rights, or set FINGERPOST_HOME to another folder."
        )

    def _unknown(self, text: str, name: str) -> ParameterError:
        document = read_document(text)
        names = ", ".join(sorted({*document.tables, *document.broken})) or "none"
        return ParameterError(f"There is no network {name}. Added networks: {names}.", {"field": "name"})


def describe_schema() -> dict[str, Any]:
    """Return the JSON schema of the whole file, for editors that check TOML."""
    record = NetworkRecord.model_json_schema()
    descriptions = _describe_keys()
    record["properties"].pop("name")
    record["required"] = [key for key in record.get("required", ()) if key != "name"]
    record["title"], record["description"] = "Network record", "What a person decides about one network."
    for key, field in record["properties"].items():
        # TOML has no null: what is not decided is left out.
        field.update(next(iter(field.pop("anyOf", ())), {}))
        if field.get("default", ...) is None:
            del field["default"]
        field["description"] = descriptions[key]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": FILE_NAME,
        "type": "object",
        "additionalProperties": False,
        "properties": {
            NETWORKS: {
                "type": "object",
                "propertyNames": {"pattern": f"^(?!DEMO-){PATTERN}$"},
                "additionalProperties": record,
            }
        },
    }


def _describe_keys() -> dict[str, str]:
    """Return what each key means, from the record's own docstring."""
    lines = [line.strip() for line in (NetworkRecord.__doc__ or "").splitlines()]
    return {key: text for key, colon, text in (line.partition(": ") for line in lines) if colon and key in KEYS}


def _putting(record: NetworkRecord) -> _Edit:
    def edit(text: str) -> str:
        plain_name(record.name)
        table = read_document(text).tables.get(record.name, {})
        foreign = {key: None for key in table if key not in KEYS}
        return write_table(text, record.name, {**list_changes(record, table), **foreign})

    return edit
