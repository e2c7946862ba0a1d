"""The embedded engine: it works on integers and never sees an answer."""
