"""A test kit for source authors: feeds drawn as text, and conformance suites."""
