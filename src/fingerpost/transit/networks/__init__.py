"""Open all configured networks and query them: preference, coverage, failures and fallbacks (rule A13)."""
