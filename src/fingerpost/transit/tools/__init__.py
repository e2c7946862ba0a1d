"""The catalogue: one file per published tool, a thin handler over ports."""
