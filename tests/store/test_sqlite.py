"""Connections to SQLite files: none is left open, whatever fails."""

import sqlite3
from pathlib import Path

import pytest

from fingerpost.errors import SettingsInvalid
from fingerpost.store.sqlite import SqliteFile

DESCRIPTORS = Path("/proc/self/fd")


def open_files():
    """Return the paths of all files that this process holds open."""
    return {descriptor.resolve() for descriptor in DESCRIPTORS.iterdir()}


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="open files are listed in /proc on Linux alone")
@pytest.mark.parametrize("synchronous", [None, "OFF"])
def test_a_file_that_is_no_database_is_let_go(tmp_path, synchronous):
    """SQLite notices at the first statement, which may be a setting of the connection's own."""
    path = (tmp_path / "limits.sqlite").resolve()
    path.write_bytes(b"this is no database, and long enough to be told from one" * 20)
    file = SqliteFile(path=path, holds="limits", synchronous=synchronous)

    with pytest.raises(SettingsInvalid, match="limits file") as caught, file.opened() as connection:
        connection.execute("SELECT 1 FROM anything")

    # The error's traceback would keep a connection that nobody closed.
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
    assert path not in open_files()
