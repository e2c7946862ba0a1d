"""Water and ways of an OpenStreetMap extract, to be drawn behind trips."""
