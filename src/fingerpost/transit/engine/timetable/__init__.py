"""The timetable as packed arrays: written by ``gtfs`` and ``demo``, read by ``raptor``."""
