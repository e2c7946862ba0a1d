"""The data model that rules, sources and tools share."""
