"""Reads the timetable: the search for the best trips."""
