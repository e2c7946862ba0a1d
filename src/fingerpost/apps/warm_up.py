"""Compile the engine's kernels in the background, and prepare and warm up a server process."""

import asyncio
import ctypes
import gc
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from filelock import FileLock

from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.plan.user_tools import GROUP
from fingerpost.transit import kernel_mode
from fingerpost.transit.port import Networks

# On larger networks, an uncompiled search takes longer than compiling.
MAX_PLAIN_BYTES = 25_000_000

_log = logging.getLogger(__name__)

# With Python's default of 5 ms, calls wait too long for the GIL while a realtime message is parsed.
SWITCH_INTERVAL_S = 0.001
# glibc returns freed blocks of at least this size to the system. The default grows to 32 MB, so days dropped from the
# cache would still occupy memory.
_M_MMAP_THRESHOLD, _RETURNED_BYTES = -3, 524_288


def compile_in_background(home: Path, announce: Callable[[str], None] = lambda _: None) -> None:
    """Start compiling the kernels in the background at first use; ``announce`` receives a message about the delay."""
    kernel_mode.decide_at_first_call(partial(_start_compiler_if_needed, home, announce))


def _start_compiler_if_needed(home: Path, announce: Callable[[str], None]) -> bool:
    if kernel_mode.are_compiled():
        return False
    prepared_files = (home / "networks" / "prepared").rglob("*")
    is_large = sum(path.stat().st_size for path in prepared_files if path.is_file()) > MAX_PLAIN_BYTES
    if is_large:
        announce("Compiling the engine, which happens once and takes a minute or two ...")
        kernel_mode.may_call.clear()
    else:
        announce("The engine is compiling in the background, once. For the next minute or two, answers are slower.")
    compiler = subprocess.Popen(
        [sys.executable, "-c", "from fingerpost.apps.warm_up import compile_kernels; compile_kernels()"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    threading.Thread(
        target=_load_once_compiled, args=(compiler, is_large), name="fingerpost-kernels", daemon=True
    ).start()
    return True


def compile_kernels() -> None:
    """Compile every kernel at low priority, or wait until another process has; compiling takes a minute or two."""
    if hasattr(os, "nice"):
        os.nice(5)
    folder = kernel_mode.use_kernels_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "compiling.lock"):
        if not kernel_mode.are_compiled():
            load_kernels()


def _load_once_compiled(compiler: subprocess.Popen[bytes], is_large: bool) -> None:
    compiler.wait()
    try:
        # If the folder is read-only, compiling in this process is still faster than plain Python on a large network.
        if is_large or kernel_mode.are_compiled():
            load_kernels()
            _log.info("the engine is compiled")
        else:
            _log.warning("the engine could not be compiled; answers will remain slow")
    finally:
        kernel_mode.may_call.set()


def load_kernels() -> None:
    """Compile every kernel or load it from the cache, for all threads."""
    # A local import, because most commands do not use the engine.
    from fingerpost.transit.embedded.kernel_calls import call_search_kernels, call_street_kernels

    with kernel_mode.compiling():
        call_search_kernels()
        call_street_kernels()


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
    kernel_mode.must_wait()
    await networks.open()
    if not kernel_mode.is_plain():
        load_kernels()
