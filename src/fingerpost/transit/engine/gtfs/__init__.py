"""Writes the timetable from GTFS Schedule: one file per table."""
