"""``schema.graphql``: the part of OpenTripPlanner's GTFS schema that our documents use, of each supported version.

``make test-otp`` validates the same documents against what a running server tells of itself.
"""

from pathlib import Path

from graphql import build_schema

SDL = Path(__file__).with_name("schema.graphql").read_text(encoding="utf-8")
SCHEMA = build_schema(SDL)
# 2.7.0 and 2.8.1 have the same part.
OLDER = build_schema("\n".join(line for line in SDL.splitlines() if not line.endswith("# 2.9")))
