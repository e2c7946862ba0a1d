"""The demo networks: two GTFS feeds, written by hand from public knowledge and simplified, and a realtime simulator.

Running times are whole minutes, every day has the same timetable, a stop means both directions and all platforms, and
some bus and tram lines call at their main stops only. They are not for travelling.
"""
