"""The timetable as arrays: built by ``gtfs`` and ``demo``, read by ``raptor``."""
