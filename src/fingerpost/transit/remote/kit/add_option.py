"""Command-line options that a source kind adds to ``fingerpost network add``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOption:
    """A command-line option, such as ``--otp URL``, that sets the source kind of the new network.

    ``metavar`` is None if the option takes no value. ``fill`` converts the value (an empty string if there is none) to
    fields of the network's record, such as ``{"url": ...}``, or raises ParameterError.
    """

    name: str
    metavar: str | None
    help: str
    fill: Callable[[str], Mapping[str, Any]]

    @property
    def parameter(self) -> str:
        return self.name.replace("-", "_")
