"""Command-line options of ``fingerpost network add`` that kinds of sources declare."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOption:
    """One option, such as ``--otp URL``; giving it makes the network one of this kind.

    ``metavar`` is None for an option without a value. ``fill`` turns the value (empty where there is none) into keys of
    the record, such as ``{"url": ...}``, or raises ParameterError.
    """

    name: str
    metavar: str | None
    help: str
    fill: Callable[[str], Mapping[str, Any]]

    @property
    def parameter(self) -> str:
        return self.name.replace("-", "_")
