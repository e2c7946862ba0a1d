"""Who writes plans: every planner is checked by the one ``validate_plan``."""
