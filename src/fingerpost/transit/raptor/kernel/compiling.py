"""How kernels are compiled, and the words they share."""

import numpy as np
from numba import njit

UNREACHED = np.int32(1 << 30)
NO_BOARDING = 1
NO_ALIGHTING = 2
STOP_LIMIT = np.int64(1 << 31)

# For functions that make arrays.
allocating = njit(cache=True, nogil=True)

# For functions that make none: numba then leaves out counting references to the many arrays of a named tuple,
# which was measured to cost sixteen times the search itself.
looping = njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]  # an option of numba that its stubs leave out
