"""Walks on the streets in an OpenStreetMap extract."""
