"""How a server sets the interpreter it runs in: when garbage is looked for, and how long a thread's turn is."""

import gc
import sys

# Python's own turns of 5 ms make a question that comes while a realtime message is read wait for one at every step.
TURN_S = 0.001


def start_without_collecting() -> None:
    """Look for no garbage: what is imported stays, and looking through it would cost a tenth of the start."""
    gc.disable()


def keep_what_is_loaded() -> None:
    """Look for garbage from now on, but not in what is there already."""
    gc.freeze()
    gc.enable()


def take_short_turns() -> None:
    """Let threads take turns of ``TURN_S`` (decision 0351)."""
    sys.setswitchinterval(TURN_S)
