"""The values that rules, sources and tools share."""
