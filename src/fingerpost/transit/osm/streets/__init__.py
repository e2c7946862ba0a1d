"""Walks on the streets of an OpenStreetMap extract."""
