"""One entry of a demo network's file, with error messages that name its place."""

from collections.abc import Mapping
from typing import Any, Never

from fingerpost.errors import SettingsInvalid

_KINDS = {str: "text", int: "whole number", bool: "truth value (true or false)", list: "list", dict: "table"}


class TableEntry:
    """One table of a file: its values, checked for known keys of the right type.

    Attributes:
        table: key to value.
    """

    def __init__(self, file_name: str, place: str, table: Any, keys: Mapping[str, type]) -> None:
        self.file_name, self.place = file_name, place
        if not isinstance(table, dict):
            self.refuse("should be a table")
        for key, value in table.items():
            if key not in keys:
                self.refuse(f"'{key}' is not known here; known are {', '.join(keys)}")
            if type(value) is not keys[key]:
                self.refuse(f"'{key}' should be a {_KINDS[keys[key]]}")
            if value == "":
                self.refuse(f"'{key}' is empty; leave it out if there is none")
        self.table = table

    def refuse(self, problem: str) -> Never:
        """Raise SettingsInvalid, naming the file, the entry and the problem."""
        raise SettingsInvalid(f"{self.file_name}, {self.place}: {problem}.", hint="Correct this entry of the file.")

    def get(self, key: str) -> Any:
        """Return a value that must be there."""
        if key not in self.table:
            self.refuse(f"'{key}' is missing")
        return self.table[key]

    def get_wheelchair(self, key: str) -> int:
        """Return a GTFS wheelchair value, unknown where it is left out."""
        value: int = self.table.get(key, 0)
        if value not in (0, 1, 2):
            self.refuse(f"'{key}' should be 0, 1 or 2")
        return value

    def get_texts(self, key: str) -> list[str]:
        """Return a list of texts, empty where it is left out."""
        texts = self.table.get(key, [])
        if not all(isinstance(text, str) and text for text in texts):
            self.refuse(f"'{key}' should list texts")
        return list(texts)
