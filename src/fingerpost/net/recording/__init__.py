"""Calls to sources as files in a folder: recorded while they are made, replayed without a network."""
