"""TfL as a source."""
