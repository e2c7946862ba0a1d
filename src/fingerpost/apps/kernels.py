"""Compile the engine's kernels in a separate process while this process runs them as plain Python."""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from filelock import FileLock

from fingerpost.transit.kernel_mode import are_compiled, compiling, decide_at_first_call, may_call, use_kernels_folder

# On larger networks, an uncompiled search takes longer than compiling.
MAX_PLAIN_BYTES = 25_000_000

_log = logging.getLogger(__name__)


def compile_in_background(home: Path, announce: Callable[[str], None] = lambda _: None) -> None:
    """Run kernels as plain Python until they are compiled; ``announce`` receives a message about the delay."""
    decide_at_first_call(partial(_start_compiler_if_needed, home, announce))


def _start_compiler_if_needed(home: Path, announce: Callable[[str], None]) -> bool:
    if are_compiled():
        return False
    prepared_files = (home / "networks" / "prepared").rglob("*")
    is_large = sum(path.stat().st_size for path in prepared_files if path.is_file()) > MAX_PLAIN_BYTES
    if is_large:
        announce("Compiling the engine, which happens once and takes a minute or two ...")
        may_call.clear()
    else:
        announce("The engine is compiling in the background, once. For the next minute or two, answers are slower.")
    compiler = subprocess.Popen(
        [sys.executable, "-c", "from fingerpost.apps.kernels import compile_kernels; compile_kernels()"],
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
    folder = use_kernels_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "compiling.lock"):
        if not are_compiled():
            load_kernels()


def _load_once_compiled(compiler: subprocess.Popen[bytes], is_large: bool) -> None:
    compiler.wait()
    try:
        # If the folder is read-only, compiling in this process is still faster than plain Python on a large network.
        if is_large or are_compiled():
            load_kernels()
            _log.info("the engine is compiled")
        else:
            _log.warning("the engine could not be compiled; answers will remain slow")
    finally:
        may_call.set()


def load_kernels() -> None:
    """Compile every kernel or load it from the cache, for all threads."""
    # A local import, because most commands do not use the engine.
    from fingerpost.transit.embedded.kernel_calls import call_search_kernels, call_street_kernels

    with compiling():
        call_search_kernels()
        call_street_kernels()
