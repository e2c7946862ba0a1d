"""Check whether riders can use a feed: compare a network with the raw tables, and plan many trips."""
