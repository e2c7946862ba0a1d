"""Import GTFS Schedule feeds into a timetable: one file per table."""
