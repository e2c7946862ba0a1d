"""A network source that answers queries from imported GTFS timetables with the embedded engine."""
