"""The embedded networks: realtime data is followed, applied and reported."""
