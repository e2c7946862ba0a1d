"""Everything that reads an OpenStreetMap extract."""
