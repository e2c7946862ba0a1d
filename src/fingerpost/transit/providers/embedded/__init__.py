"""The embedded engine as a source: no key, no server, nothing but the timetable on disk."""
