"""Ways of walking that tests ask for."""

from dataclasses import replace

from tests.streets.towns import PLAIN

NO_STEPS = replace(PLAIN, step_free=True)
TURNING = replace(PLAIN, turn_degrees_per_m=20.0)
