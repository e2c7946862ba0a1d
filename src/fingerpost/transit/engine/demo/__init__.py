"""The demo networks: compact tables, written by hand, that expand to a timetable valid on any day.

``networks/*.toml`` are the tables, ``tables.py`` reads them, ``expansion.py`` makes rows of them, and
``catalogue.py`` lists the networks and builds one.
"""
