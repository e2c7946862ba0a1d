"""Read GTFS-Realtime messages into an overlay on the timetable."""
