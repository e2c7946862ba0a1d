"""Water and ways behind trips."""
