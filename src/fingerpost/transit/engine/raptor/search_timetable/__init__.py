"""Build the search timetable: the trips around one day, grouped into patterns for the kernels."""
