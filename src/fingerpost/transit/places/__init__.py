"""One resolver of places: a variable, a token or a name, over all networks at once (rulings B10, A13)."""
