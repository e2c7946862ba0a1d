"""The kernels: arrays and integers in, arrays and integers out; see ``transit.kernel_mode``. Here: shared values."""

import numpy as np

UNREACHED = np.int32(1 << 30)
NO_BOARDING = 1
NO_ALIGHTING = 2

# Shortest rides are stored by when they leave: spans of this length.
SPAN_S = 900
# No vehicle takes a hop in a span; longer rides than can be stored are stored as MAX_HOP_S.
NO_HOP = np.uint16(65_535)
MAX_HOP_S = 65_534
