"""The composite of all networks: preference, coverage, failures and fallbacks (rule A13)."""
