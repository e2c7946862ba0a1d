"""A server that answers in the shapes of TfL's API, from any network of ours."""
