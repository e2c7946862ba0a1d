"""The composite of all networks: order, coverage, failure and fallback (ruling A13)."""
