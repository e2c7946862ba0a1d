"""Shared by all tests: machine code is compiled once instead of once per run."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from fingerpost.transit.kernel_mode import mark_compiled

# Before any import of numba, in this process and in those that tests start. A folder that is named already stays.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "kernels"))
# Tests compile what they need at its first call, and start no other process for it.
mark_compiled()

# Everybody draws the same examples; `make soak` and a stage of `.ci/run` draw new ones and print their seed.
settings.register_profile("fixed", deadline=None, derandomize=True, database=None)
settings.register_profile("new-draws", deadline=None, database=None, print_blob=True)
settings.load_profile("new-draws" if os.environ.get("FINGERPOST_NEW_DRAWS") else "fixed")

# Tests interrupt the processes that they start, and what a shell has started behind it hands on that nobody can.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave out of later collections what lives as long as the run: modules, tests and what they import."""
    gc.collect()
    gc.freeze()


# Where the system lists a process's open files, and how many are left to cycles that nobody has collected yet.
_OPEN_FILES = next((folder for folder in (Path("/proc/self/fd"), Path("/dev/fd")) if folder.is_dir()), None)
_MANY_OPEN_FILES = 100


@pytest.fixture(autouse=True)
def close_what_is_dropped() -> Iterator[None]:
    """Collect what a test leaves in cycles once it adds up: each network and store holds file descriptors.

    Python collects old objects ever more rarely as a process grows, and a test may have turned collection off.
    """
    yield
    if _OPEN_FILES is not None and sum(1 for _ in _OPEN_FILES.iterdir()) > _MANY_OPEN_FILES:
        gc.collect()


@pytest.fixture(autouse=True, scope="module")
def close_what_a_module_drops() -> Iterator[None]:
    """Collect what a module leaves in cycles: each network and store holds file descriptors.

    What is left lives as long as the run. To look through it again after each module took a third of the run's time.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def _sdk():
    from tests.telemetry.collected import start_sdk

    return start_sdk()


@pytest.fixture
def seen(_sdk):
    from tests.telemetry.collected import Seen

    _sdk.spans.clear()
    yield Seen(_sdk.spans, _sdk.reader)
    _sdk.spans.clear()
