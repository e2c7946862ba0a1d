"""The water and streets drawn behind trips."""
