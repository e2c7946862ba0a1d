"""One resolver of places: a variable, a token or a name, over all networks at once (rules B10, A13)."""
