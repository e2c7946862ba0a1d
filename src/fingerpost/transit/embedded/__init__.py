"""The embedded engine as a network source: it answers from imported GTFS timetables."""
