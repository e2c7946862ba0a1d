"""Search for the best journeys in a timetable with RAPTOR."""
