"""Streets, house numbers and points of interest of an OpenStreetMap extract, found by name and by position."""
