"""An engine under test."""

import importlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An engine under test.

    ``opens`` is ``module:name`` of a callable that takes a folder and returns a journal over whatever is stored for it.
    Other processes import it by this name.
    """

    name: str
    opens: str

    def open(self, folder):
        module, _, name = self.opens.partition(":")
        return getattr(importlib.import_module(module), name)(folder)
