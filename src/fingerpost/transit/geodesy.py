"""The globe: the constants that every distance is worked out from."""

import math

# Mean radius of the Earth (IUGG).
EARTH_RADIUS_M = 6_371_008.8
METRES_PER_DEGREE = math.radians(EARTH_RADIUS_M)
