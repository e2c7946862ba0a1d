"""``schema.graphql``: the part of OpenTripPlanner's GTFS schema that our documents use, with names and nullability.

``make test-otp`` validates the same documents against what a running server tells of itself.
"""

from pathlib import Path

from graphql import build_schema

SDL = Path(__file__).with_name("schema.graphql").read_text(encoding="utf-8")
SCHEMA = build_schema(SDL)


def build_older(*lines):
    sdl = SDL
    for line in lines:
        assert line in sdl
        sdl = sdl.replace(line, "")
    return build_schema(sdl)
