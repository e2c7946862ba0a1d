"""Runs a plan over any catalogue of tools: checked before it starts, journaled while it runs (plan-step contract)."""
