"""Import GTFS Schedule feeds into a timetable; most modules here read one GTFS table."""
