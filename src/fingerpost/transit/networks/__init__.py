"""The composite of all networks: preference, coverage, failures and fallbacks (ruling A13)."""
