"""What PostgreSQL's errors mean for the caller or the operator.

No sentence repeats what the server or its client library says of a connection: the address is a secret.
"""

from typing import TYPE_CHECKING

from fingerpost.errors import ParameterError, SettingsInvalid, StorageUnavailable, ToolError

if TYPE_CHECKING:
    import psycopg

VARIABLE = "FINGERPOST_DATABASE_URL"

_CANNOT_REACH = "The database cannot be reached; try again in a moment"
_BUSY = "The database is busy; try again in a moment"
_FULL = "The database has no room or no connection left; try again in a moment"
_READ_ONLY = f"The database only reads; let {VARIABLE} name the one that is written to"
_FORBIDDEN = f"The database does not let the user of {VARIABLE} use its tables; grant it the schema"
_REFUSED = f"The database refuses the user or the password of {VARIABLE}"
_ABSENT = f"There is no database of the name that {VARIABLE} says; create it, or correct the name"
NO_ADDRESS = f"{VARIABLE} is no address of a database; write postgresql://USER:PASSWORD@HOST:PORT/NAME"
_UNSAFE = f"The database does not offer the encrypted connection that {VARIABLE} asks for"

_OF_CLASS: dict[str, tuple[type[ToolError], str]] = {
    "28": (SettingsInvalid, _REFUSED),
    "3D": (SettingsInvalid, _ABSENT),
    "40": (StorageUnavailable, _BUSY),
    "53": (StorageUnavailable, _FULL),
    "55": (StorageUnavailable, _BUSY),
}
_OF_STATE: dict[str, tuple[type[ToolError], str]] = {
    "25006": (SettingsInvalid, _READ_ONLY),
    "42501": (SettingsInvalid, _FORBIDDEN),
    "57014": (StorageUnavailable, _BUSY),
}
# A connection that is refused brings no code, only words.
_OF_WORDS: tuple[tuple[str, type[ToolError], str], ...] = (
    ("authentication failed", SettingsInvalid, _REFUSED),
    ("no password supplied", SettingsInvalid, _REFUSED),
    ("no pg_hba.conf entry", SettingsInvalid, _REFUSED),
    ("role ", SettingsInvalid, _REFUSED),
    ('database "', SettingsInvalid, _ABSENT),
    ("SSL", SettingsInvalid, _UNSAFE),
    ("certificate", SettingsInvalid, _UNSAFE),
    ("Servname", SettingsInvalid, NO_ADDRESS),
    ("invalid ", SettingsInvalid, NO_ADDRESS),
    ("too many clients", StorageUnavailable, _FULL),
    ("connection slots", StorageUnavailable, _FULL),
)
UNDONE_STATES = ("40001", "40P01")
"""Of two transactions that got in each other's way one was undone whole: it may be done again."""
_LOST_STATES = ("57P01", "57P02", "57P03")


class DatabaseLost(StorageUnavailable):
    """The database cannot be reached, or it broke a connection off; the next attempt may succeed."""

    def __init__(self, message: str = _CANNOT_REACH) -> None:
        super().__init__(message)


def is_lost(error: "psycopg.Error", connection: "psycopg.Connection | None") -> bool:
    """Whether a statement failed because its connection is gone."""
    is_gone = connection is not None and connection.closed
    state = error.sqlstate or ""
    return is_gone or state.startswith("08") or state in _LOST_STATES


def translate_connecting(error: "psycopg.Error") -> ToolError:
    """Return the error of a connection that could not be made."""
    words = str(error)
    for fragment, kind, message in _OF_WORDS:
        if fragment in words:
            return kind(message)
    return DatabaseLost()


def translate(error: "psycopg.Error", connection: "psycopg.Connection | None" = None) -> ToolError:
    """Return the error of a statement."""
    state = error.sqlstate or ""
    if is_lost(error, connection):
        return DatabaseLost()
    known = _OF_STATE.get(state) or _OF_CLASS.get(state[:2])
    if known is not None:
        return known[0](known[1])
    if state.startswith("22") or "NUL" in str(error):
        return ParameterError("A text cannot be stored: it has a character that no database text may have, such as NUL")
    return StorageUnavailable(
        f"The database could not do what was asked: {type(error).__name__} {state}".strip(), retryable=False
    )
