"""Read OpenStreetMap extracts: streets, addresses and the background map."""
