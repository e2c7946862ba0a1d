"""Open the file of network records, with every check on a record."""

from pathlib import Path

from fingerpost.apps.source_kinds import list_kinds
from fingerpost.store.network_records import NetworkRecordFile
from fingerpost.transit.embedded.named_places import check_places


def open_record_file(home: Path, kinds: frozenset[str] | None = None) -> NetworkRecordFile:
    """Return the records below a home folder; those of other kinds of sources than ``kinds`` cannot be used."""
    return NetworkRecordFile(home, kinds=kinds or list_kinds(), checks=(check_places,))
