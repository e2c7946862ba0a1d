"""The embedded trip-planning engine, which imports, stores and searches timetables, and works only with row numbers."""
