"""Kernels for searches on the street graph."""
