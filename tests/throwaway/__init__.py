"""A source that is asked over HTTP and that nobody ships: what it takes to add one.

``source.py`` is what would be a package under ``transit/providers``; ``server.py`` is the other side of the wire.
"""
