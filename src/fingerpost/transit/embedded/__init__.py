"""The embedded engine as a network source: it answers queries from imported GTFS timetables."""
