"""Read the tables of a feed: archives, encodings, rows and columns of text."""
