"""The embedded trip-planning engine: it imports, stores and searches timetables, and uses row numbers, not ids."""
