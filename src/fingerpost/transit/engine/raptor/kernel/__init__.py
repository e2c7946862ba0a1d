"""Constants for the RAPTOR kernels, which are functions of arrays and integers (see ``transit.kernel_mode``)."""

import numpy as np

UNREACHED = np.int32(1 << 30)
NO_BOARDING = 1
NO_ALIGHTING = 2

# The shortest ride of a hop is stored for each departure span of this length.
SPAN_S = 900
# NO_HOP marks a span without a ride; rides longer than MAX_HOP_S are stored as MAX_HOP_S.
NO_HOP = np.uint16(65_535)
MAX_HOP_S = 65_534
