"""What every test shares: machine code is compiled once, not once a run."""

import os
from pathlib import Path

# Before any import of numba, in this process and in those that tests start. A folder that is named already stays.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "kernels"))
