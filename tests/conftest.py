"""What every test shares: machine code is compiled once, not once a run."""

import os
import signal
from pathlib import Path

from hypothesis import settings

# Before any import of numba, in this process and in those that tests start. A folder that is named already stays.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "kernels"))

# A machine that is busy elsewhere makes no example wrong.
settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")

# Tests interrupt the processes that they start, and what a shell has started behind it hands on that nobody can.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
