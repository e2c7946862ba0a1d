"""Fares: the fare rules of a feed, and trip prices."""
