"""MOTIS as a source.

``town_server.py`` answers its questions from a feed written as text, over real HTTP; ``shapes.py`` is the part of its
published OpenAPI description that answers are held to; ``answers.py`` holds answers that a test writes by hand.
"""
