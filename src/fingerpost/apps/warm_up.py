"""Prepare a server process: tune garbage collection and thread switching, and warm up its networks."""

import asyncio
import ctypes
import gc
import logging
import os
import sys
import threading
from contextlib import suppress

from fingerpost.apps.kernels import compile_in_background, load_kernels
from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.plan.user_tools import GROUP
from fingerpost.transit.kernel_mode import is_plain, must_wait
from fingerpost.transit.port import Networks

_log = logging.getLogger(__name__)

# With Python's default of 5 ms, calls wait too long for the GIL while a realtime message is parsed.
SWITCH_INTERVAL_S = 0.001
# glibc returns freed blocks of at least this size to the system. The default grows to 32 MB, so days dropped from the
# cache would still occupy memory.
_M_MMAP_THRESHOLD, _RETURNED_BYTES = -3, 524_288


def start_server_process() -> None:
    """Disable garbage collection until ``new_warm_up`` is called, because it would take a tenth of the startup time."""
    gc.disable()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    if sys.platform == "linux":
        with suppress(AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _RETURNED_BYTES)


def _enable_garbage_collection() -> None:
    """Enable garbage collection, but exempt existing objects, because scanning the engine takes 150 ms."""
    gc.freeze()
    gc.enable()


def new_warm_up(application: Application) -> "WarmUp":
    """Return the warm-up for a server; call this after importing everything that the server needs."""
    compile_in_background(application.settings.home)
    _enable_garbage_collection()
    groups = {group for tool in application.tools.values() for group in tool.definition.groups}
    return WarmUp(application.networks, needs_engine=not groups <= {"filings", "plans", GROUP})


class WarmUp:
    """Opens the networks in a daemon thread; ``problem`` explains why they are not usable yet."""

    def __init__(self, networks: Networks, *, needs_engine: bool = True) -> None:
        self._networks = networks
        self.needs_engine = needs_engine
        self._thread: threading.Thread | None = None
        self.problem: str | None = "The networks are being opened" if needs_engine else None

    def start(self) -> None:
        if self.needs_engine and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="fingerpost-warm-up", daemon=True)
            self._thread.start()

    def exit_if_running(self) -> None:
        """End the process with status 0 if the warm-up is still running, because Python would wait for it."""
        if self._thread is not None and self._thread.is_alive():
            logging.shutdown()
            os._exit(0)

    def _run(self) -> None:
        outcome: str | None = "The networks could not be opened; see the server's log"
        try:
            asyncio.run(warm_up_networks(self._networks))
            _enable_garbage_collection()
            outcome = self.problem = None
            _log.info("the networks are open")
        except ToolError as error:
            outcome = error.message
            _log.warning("the networks cannot be opened: %s", error.message)
        except OSError as error:
            outcome = f"The engine could not be loaded: {error.strerror or error}"
            _log.error("%s", outcome)
        finally:
            self.problem = outcome


async def warm_up_networks(networks: Networks) -> None:
    """Open the networks, and load the kernels."""
    # Start the compiler now, if needed; otherwise a query would start it, and block the server's event loop for 80 ms.
    must_wait()
    await networks.open()
    if not is_plain():
        load_kernels()
