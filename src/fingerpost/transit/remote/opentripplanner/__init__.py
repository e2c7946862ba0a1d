"""Networks on OpenTripPlanner 2 servers, such as Digitransit's; see ``network.py``."""
