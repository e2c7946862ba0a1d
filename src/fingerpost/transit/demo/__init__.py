"""The demo networks: compact tables that expand to a timetable valid on any day."""
