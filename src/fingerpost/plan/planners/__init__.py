"""Planners; every plan that they write is checked by ``validate_plan``."""
