"""Networks behind OpenTripPlanner 2 servers, such as Digitransit's; begin at ``network.py``."""
