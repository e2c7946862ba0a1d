"""The embedded engine as a source, from timetables on disk."""
