"""Networks behind an OpenTripPlanner 2 server, Digitransit's among them; begin at ``network.py``."""
