"""The embedded networks: real time followed, published and told."""
