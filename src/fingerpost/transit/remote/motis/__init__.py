"""MOTIS 2 servers, Transitous among them, as networks."""
