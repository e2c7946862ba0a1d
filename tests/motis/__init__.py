"""MOTIS as a source.

``town_server.py`` answers its questions from a feed written as text, over real HTTP; ``answers.py`` holds answers that
a test writes by hand.
"""
