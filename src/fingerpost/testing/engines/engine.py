"""An engine as the suite sees it, and what it means to break a promise."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import cast

from fingerpost.plan.journal import Journal


class EngineBroken(AssertionError):
    """An engine does not keep what it promises; the sentence says what, and where it showed."""


class EngineAbility(StrEnum):
    """What not every engine can do."""

    OUTLIVES = "what is recorded outlives its process"
    SHARED = "several processes keep their runs in one place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A way to keep runs.

    Attributes:
        name: for people.
        opens: ``module:name`` of a callable that takes a folder and returns a journal over whatever is kept for it:
            in it, or, for a server, under a name that is made from it. Other processes import it by this name.
        abilities: what it can do; facts that need more are left out.
    """

    name: str
    opens: str
    abilities: frozenset[EngineAbility] = frozenset(EngineAbility)

    def open(self, folder: Path) -> Journal:
        """Return a journal; each call is a new opening of the same place."""
        module, _, name = self.opens.partition(":")
        factory = cast("Callable[[Path], Journal]", getattr(importlib.import_module(module), name))
        return factory(folder)


def expect(is_so: bool, sentence: str) -> None:
    """Hold an engine to a promise.

    Raises:
        Broken: it is not so.
    """
    if not is_so:
        raise EngineBroken(sentence)
