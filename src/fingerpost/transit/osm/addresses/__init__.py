"""Find streets, house numbers and points of interest of an OpenStreetMap extract by name and by position."""
