"""Facts that every remote source has to hold, each with a row for each source."""
