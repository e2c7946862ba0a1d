"""The embedded trip-planning engine: it imports, stores and searches timetables, and works on row numbers only."""
