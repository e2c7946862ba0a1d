"""Fares: what feeds state, and the price of a whole trip."""
