"""OpenTripPlanner as a source.

``schema.py`` is the part of its GraphQL schema that we know, ``town_server.py`` answers it from a feed written as text,
over real HTTP; ``answers.py`` holds answers in its shapes.
"""
