"""A server that answers in the format of TfL's API, from any of our networks."""
