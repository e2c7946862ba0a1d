"""Constants of the spherical Earth model that every distance is computed from."""

import math

# Mean radius of the Earth (IUGG).
EARTH_RADIUS_M = 6_371_008.8
METRES_PER_DEGREE = math.radians(EARTH_RADIUS_M)
