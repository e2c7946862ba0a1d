"""Testing kit for authors of sources: feeds drawn as text, and conformance suites."""
