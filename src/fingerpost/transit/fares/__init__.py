"""Fares: the rules of a feed, and the price of a trip."""
