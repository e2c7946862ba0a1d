"""An engine under test."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fingerpost.plan.journal import Journal


class EngineBroken(AssertionError):
    """An engine violates a fact; the message says which, and where it showed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An engine under test.

    ``opens`` is ``module:name`` of a callable that takes a folder and returns a journal over whatever is stored for it.
    Other processes import it by this name.
    """

    name: str
    opens: str

    def open(self, folder: Path) -> Journal:
        module, _, name = self.opens.partition(":")
        factory = cast("Callable[[Path], Journal]", getattr(importlib.import_module(module), name))
        return factory(folder)


def expect(is_so: bool, sentence: str) -> None:
    """Raise ``EngineBroken`` unless a condition holds.

    Raises:
        Broken: it is not so.
    """
    if not is_so:
        raise EngineBroken(sentence)
