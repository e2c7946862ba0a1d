"""Find streets, house numbers and points of interest in an OpenStreetMap extract by name and by position."""
