"""Testing kit for authors of sources and engines: feeds drawn as text, fake networks, conformance suites."""
