"""Read the delimited tables of a GTFS feed: archives, encodings, rows and columns of text."""
