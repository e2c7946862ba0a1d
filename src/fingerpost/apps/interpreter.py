"""Start a process that serves: garbage collection, turns of threads, and warm-up."""

import gc
import sys
from typing import TYPE_CHECKING

from fingerpost.apps.kernels import answer_while_compiling, needs_engine

if TYPE_CHECKING:
    from fingerpost.apps.warm_up import WarmUp
    from fingerpost.apps.wiring import Application

# Python's own turns of 5 ms make a question that comes while a realtime message is read wait for one at every step.
_TURN_S = 0.001


def start_server_process() -> None:
    """Prepare the process before the application is built.

    Garbage collection is off until ``new_warm_up``: scanning imported modules costs a tenth of a start.
    """
    gc.disable()
    take_short_turns()


def new_warm_up(application: "Application") -> "WarmUp":
    """Return the warm-up of a server, once all that it serves is imported; the engine compiles in another process."""
    from fingerpost.apps.warm_up import WarmUp

    answer_while_compiling(application.settings.home)
    keep_what_is_loaded()
    return WarmUp(application.networks, needs_engine=needs_engine(application.tools))


def keep_what_is_loaded() -> None:
    """Enable garbage collection, with everything loaded so far exempt from it (``gc.freeze``).

    Called again once the engine is warm: its modules and compiled code make one full collection take 150 ms.
    """
    gc.freeze()
    gc.enable()


def take_short_turns() -> None:
    sys.setswitchinterval(_TURN_S)
