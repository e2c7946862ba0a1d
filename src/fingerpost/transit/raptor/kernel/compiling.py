"""How kernels are compiled, and the words they share."""

import numpy as np
from numba import njit

UNREACHED = np.int32(1 << 30)
NO_BOARDING = 1
NO_ALIGHTING = 2

# Shortest rides are kept apart by when they leave: spans of this length.
SPAN_S = 900
# In a span no vehicle takes a hop; what takes longer than can be written is written as LONGEST_HOP_S.
NO_HOP = np.uint16(65_535)
LONGEST_HOP_S = 65_534

# For functions that make arrays.
allocating = njit(cache=True, nogil=True)

# For functions that make none: numba then leaves out counting references to the many arrays of a named tuple,
# which was measured to cost sixteen times the search itself.
looping = njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]  # an option of numba that its stubs leave out
