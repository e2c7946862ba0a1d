"""The globe: the one constant that every distance is worked out from."""

# Mean radius of the Earth (IUGG).
EARTH_RADIUS_M = 6_371_008.8
