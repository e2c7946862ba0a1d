"""Open all configured networks and query them by preference and coverage, with fallbacks (rule A13)."""
