"""The demo networks: two simplified GTFS feeds with the same timetable every day, and a realtime simulator."""
