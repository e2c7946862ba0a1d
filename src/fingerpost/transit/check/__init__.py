"""Check a network: compare it with the raw GTFS tables of its feeds, and plan many trips."""
