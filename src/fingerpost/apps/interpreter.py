"""Interpreter settings of a server: garbage collection and the thread switch interval."""

import gc
import sys

# Python's own turns of 5 ms make a question that comes while a realtime message is read wait for one at every step.
TURN_S = 0.001


def start_without_collecting() -> None:
    """Disable garbage collection during start-up, where scanning imported modules costs a tenth of the time."""
    gc.disable()


def keep_what_is_loaded() -> None:
    """Enable garbage collection, with everything loaded so far exempt from it (``gc.freeze``).

    Called again once the engine is warm: its modules and compiled code make one full collection take 150 ms.
    """
    gc.freeze()
    gc.enable()


def take_short_turns() -> None:
    """Set the thread switch interval to ``TURN_S``."""
    sys.setswitchinterval(TURN_S)
